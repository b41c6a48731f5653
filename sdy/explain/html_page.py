"""The page that shows an explanation in a browser: one file, which loads nothing and sends nothing.

Its parts are in the folder `page`. The document is embedded as JSON. What a program says, names
and locations, is data: in the JSON it has no `<`, and the page's script makes text nodes of it.
A content security policy lets no other script run, and nothing be loaded.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from string import Template
from typing import Any

__all__ = ["html_page"]

_PAGE = Path(__file__).with_name("page")

_STYLES = ("theme", "page", "graph", "views", "phone")

# In an order in which each uses only classes and constants of those before it.
_SCRIPTS = (
    "elements",
    "units",
    "model",
    "signs",
    "outline",
    "layout",
    "edges",
    "nodes",
    "minimap",
    "graph",
    "why",
    "placement",
    "details",
    "tables",
    "communication",
    "memory",
    "advice",
    "search",
    "main",
)

# What could end the script element. As the JSON is ASCII, it has none of the line separators of
# Unicode either, which end a string in old readers.
_ESCAPED = "<>&"


def html_page(document: dict[str, Any]) -> str:
    """Return the page of a document, as `Explanation.document` gives it, as HTML for UTF-8.

    Raises:
      ValueError: where a number of the document is not finite.

    """
    style = "\n".join(_read(f"{name}.css") for name in _STYLES)
    script = '"use strict";\n(() => {\n' + "\n".join(_read(f"{name}.js") for name in _SCRIPTS)
    script += "})();\n"
    return Template(_read("page.html")).substitute(
        policy=_policy(script, style),
        title=html.escape(_title(document)),
        style=style,
        script=script,
        document=_json(document),
    )


def _read(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")


def _json(document: dict[str, Any]) -> str:
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for char in _ESCAPED:
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _title(document: dict[str, Any]) -> str:
    return f"sdy explain: {len(document['ops']):,} ops"


def _policy(script: str, style: str) -> str:
    """Return the content security policy: the page's own script and style, and nothing else.

    No text can become markup or script either: there are no trusted types.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"

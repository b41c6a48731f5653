"""Small programs with what the corpus has little of. XLA need not be able to run them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SMALL_PROGRAMS"]

SMALL_PROGRAMS = {
    path.stem: path.read_text()
    for path in sorted((Path(__file__).parent / "programs_in_mlir").glob("*.mlir"))
}

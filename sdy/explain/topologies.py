"""How the devices of a machine are linked: tori of TPUs, nodes of GPUs, what a file describes."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sdy.dialect.errors import Error
from sdy.dialect.suggestion import did_you_mean

__all__ = ["Link", "Topology", "parse_topology", "topology"]

Shape: TypeAlias = Literal["ring", "line", "switch"]

_SHAPES = ("ring", "line", "switch")
_TORUS = re.compile(r"(?P<family>[a-z0-9]+):(?P<sizes>[0-9]{1,6}(x[0-9]{1,6})*)")
_NODES = re.compile(r"(?P<family>[a-z0-9]+):(?P<count>[1-9][0-9]{0,5})")
_BUILT_IN = Path(__file__).with_name("topologies.toml")


@dataclass(frozen=True, slots=True)
class Link:
    """One dimension of a machine: how devices that differ in their place along it are linked.

    Attributes:
      size: the number of devices along it.
      shape: `ring` or `line`, where each device is linked to its neighbours, or `switch`, where
        all are linked to all.
      bandwidth: bytes a second that a device sends over one link, in one direction.
      latency: seconds that the first byte takes from one device to the next.

    """

    size: int
    shape: Shape
    bandwidth: float
    latency: float


@dataclass(frozen=True, slots=True)
class Topology:
    """The links of a machine.

    Attributes:
      name: as it is asked for.
      links: one for each dimension, major first.
      is_torus: whether the links of all dimensions work at the same time; otherwise an exchange
        that goes along several takes one after the other, as over a network of nodes.

    """

    name: str
    links: tuple[Link, ...]
    is_torus: bool = True

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(link.size for link in self.links)


def topology(name_or_path: str) -> Topology:
    """Return the topology of a name such as `v5e:2x4` or `h100:16`, or the one in a TOML file.

    The names are those of targets; `tpu:` and `gpu:` may stand before them.

    Raises:
      Error: if there is no such topology, saying which there are, or if the file is not right.

    """
    name = name_or_path.removeprefix("tpu:").removeprefix("gpu:")
    family = name.partition(":")[0]
    described = _families().get(family)
    if described is not None:
        torus, nodes = _TORUS.fullmatch(name), _NODES.fullmatch(name)
        if described["kind"] == "torus" and torus:
            return _torus(name, described, [int(size) for size in torus["sizes"].split("x")])
        if described["kind"] == "nodes" and nodes:
            return _nodes(name, described, int(nodes["count"]))
        raise Error(f"unknown topology '{name_or_path}': expected {_spelling(family, described)}")
    path = Path(name_or_path)
    if path.suffix == ".toml":
        try:
            return parse_topology(path.read_text(encoding="utf-8"), str(path))
        except OSError as error:
            raise Error(f"cannot read topology '{path}': {error.strerror}") from None
        except ValueError as error:  # Of the encoding, or a null character in the name.
            raise Error(f"cannot read topology '{path}': {error}") from None
    known = [_spelling(known, values) for known, values in _families().items()]
    hint = did_you_mean(family, list(_families()))
    raise Error(
        f"unknown topology '{name_or_path}'{hint}; there are {', '.join(known)}, and TOML files"
    )


def parse_topology(text: str, name: str = "<text>") -> Topology:
    """Return the topology that TOML describes.

    It has a list `links`, each with `size`, `shape`, `bandwidth` and `latency` as in `Link`, and
    may have `name` and `is_torus`.

    Raises:
      Error: if it is no TOML, or if something is missing, unknown or of the wrong kind.

    """
    try:
        described = tomllib.loads(text)
    except RecursionError:
        raise Error(f"{name}: nested too deep") from None
    except ValueError as error:  # Of the form, or a number with thousands of digits.
        raise Error(f"{name}: {error}") from None
    _check_keys(described, {"name": str, "is_torus": bool, "links": list}, {"links"}, name)
    links = tuple(_link(entry, f"{name}: link {i}") for i, entry in enumerate(described["links"]))
    if not links:
        raise Error(f"{name}: a topology has at least one link")
    return Topology(described.get("name", name), links, described.get("is_torus", True))


def _link(entry: Any, where: str) -> Link:
    if not isinstance(entry, dict):
        raise Error(f"{where}: expected a table, got {entry!r}")
    number = (int, float)
    kinds = {"size": int, "shape": str, "bandwidth": number, "latency": number}
    _check_keys(entry, kinds, kinds, where)
    if entry["shape"] not in _SHAPES:
        raise Error(f"{where}: 'shape' is one of {', '.join(_SHAPES)}, got {entry['shape']!r}")
    # Written so that what is not a number is refused, too.
    rates_are_right = 0 < entry["bandwidth"] < math.inf and 0 <= entry["latency"] < math.inf
    if entry["size"] < 1 or not rates_are_right:
        raise Error(
            f"{where}: sizes and bandwidths are positive, latencies not negative, all finite"
        )
    return Link(**entry)


def _check_keys(table: dict[str, Any], kinds: dict[str, Any], needed: Any, where: str) -> None:
    for key, value in table.items():
        if key not in kinds:
            raise Error(f"{where}: unknown key '{key}'{did_you_mean(key, list(kinds))}")
        is_right = isinstance(value, kinds[key])
        if not is_right or (isinstance(value, bool) and kinds[key] is not bool):
            raise Error(f"{where}: '{key}' is of the wrong kind: {value!r}")
    for key in needed:
        if key not in table:
            raise Error(f"{where}: '{key}' is missing")


@cache
def _families() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_BUILT_IN.read_text(encoding="utf-8"))


def _spelling(family: str, described: dict[str, Any]) -> str:
    if described["kind"] == "nodes":
        return f"{family}:N"
    return f"{family}:{'x'.join('XYZ'[: described['dimensions']])}"


def _torus(name: str, described: dict[str, Any], sizes: list[int]) -> Topology:
    """Return a torus; a dimension closes to a ring only where it is long enough."""
    if len(sizes) != described["dimensions"] or 0 in sizes:
        family = name.partition(":")[0]
        raise Error(f"unknown topology '{name}': expected {_spelling(family, described)}")
    period = described["wraps_at_multiples_of"]
    return Topology(
        name,
        tuple(
            Link(
                size,
                "ring" if size % period == 0 else "line",
                described["bandwidth"],
                described["latency"],
            )
            for size in sizes
        ),
    )


def _nodes(name: str, described: dict[str, Any], count: int) -> Topology:
    """Return nodes of as many devices as a switch links, on a network."""
    per_node = described["devices"]
    inside = Link(min(count, per_node), "switch", described["bandwidth"], described["latency"])
    if count <= per_node:
        return Topology(name, (inside,), is_torus=False)
    if count % per_node:
        raise Error(f"unknown topology '{name}': expected whole nodes of {per_node} devices")
    network = Link(
        count // per_node, "switch", described["network_bandwidth"], described["network_latency"]
    )
    return Topology(name, (network, inside), is_torus=False)

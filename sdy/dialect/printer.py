"""From the values of the dialect to the text that MLIR reads; `str` gives the notation."""

from __future__ import annotations

from sdy.dialect.errors import ArgumentTypeError
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import ManualAxes, TensorSharding, TensorShardingPerValue
from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["to_mlir"]

Printable = Mesh | TensorSharding | TensorShardingPerValue | ManualAxes | OpShardingRule


def to_mlir(value: Printable) -> str:
    """Return the attribute text of `value` as MLIR prints it, such as `#sdy.sharding<...>`.

    The name of a mesh is not part of the text: `sdy.mesh @name = <...>` is an op.
    """
    match value:
        case Mesh():
            return f"#sdy.mesh<{value.body}>"
        case TensorSharding():
            return f"#sdy.sharding<{value.body}>"
        case TensorShardingPerValue():
            return f"#sdy.sharding_per_value<{value.body}>"
        case ManualAxes():
            return f"#sdy<{value}>"
        case OpShardingRule():
            return f"#sdy.op_sharding_rule<{value.body}>"
        case _:
            raise ArgumentTypeError(
                f"value: expected a mesh, sharding, list of shardings, manual axes or rule, "
                f"got {type(value).__name__}"
            )

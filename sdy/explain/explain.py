"""The public way in to explanations.

It is light to import, so that `sdy` can bind the function over the package of the same name at
once, without loading MLIR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import os

    from jaxlib.mlir import ir

    from sdy.explain.explanation import Explanation
    from sdy.explain.topologies import Topology
    from sdy.ir.load import Lowered

__all__ = ["explain"]


def explain(
    program: str | bytes | os.PathLike[str] | Lowered | ir.Module,
    *,
    topology: str | Topology | None = None,
    dedup_functions_fully: bool = False,
    sub_axes_in_io: Literal["remove", "allow"] = "remove",
    follow_composites: bool = False,
) -> Explanation:
    """Propagate a copy of a program, and explain what comes out.

    Args:
      program: what `sdy.load` takes. A module stays as it is.
      topology: the machine to tell times for, or its name: `v5e:2x4`, or a file that describes
        one; see `sdy-explain --help`.
      dedup_functions_fully: as for `sdy.propagate`.
      sub_axes_in_io: as for `sdy.propagate`.
      follow_composites: as for `sdy.propagate`.

    Returns:
      What can be asked about it: why each tensor is sharded as it is, and why not otherwise;
      where it communicates, and what that costs; what would be if it said more.

    Raises:
      Error: located, where the program cannot be propagated; where there is no such topology.

    """
    from sdy.dialect.errors import Error, check_type
    from sdy.explain.explanation import Explanation
    from sdy.explain.topologies import Topology
    from sdy.explain.topologies import topology as find_topology
    from sdy.explain.traced import trace
    from sdy.ir.load import load
    from sdy.passes.propagation_pipeline import PropagationPipeline

    if sub_axes_in_io not in ("remove", "allow"):
        raise Error(f"sub_axes_in_io must be 'remove' or 'allow', got {sub_axes_in_io!r}")
    pipeline = PropagationPipeline(
        dedup_functions_fully=dedup_functions_fully,
        follow_composites=follow_composites,
        remove_sub_axes_in_input_output_shardings=sub_axes_in_io == "remove",
    )
    if topology is not None:
        check_type(topology, (str, Topology), "topology", "a name, a path or a Topology")
    machine = find_topology(topology) if isinstance(topology, str) else topology
    return Explanation(trace(load(program), pipeline), machine)

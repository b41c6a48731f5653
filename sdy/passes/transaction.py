"""All or nothing: a module gets its content back where a change to it fails."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["restored_on_error"]


@contextmanager
def restored_on_error(module: ir.Module) -> Iterator[None]:
    """Put back what `module` held where the block raises.

    The content comes back as new ops: handles from before are dead then.
    """
    with module.context, ir.Location.unknown():
        backup = module.operation.clone()
    try:
        yield
    except BaseException:
        _replace_content(module.operation, backup.operation)
        raise


def _replace_content(op: ir.Operation, content: ir.Operation) -> None:
    """Move attributes and body of one module to the other."""
    for name in list(op.attributes):
        del op.attributes[name]
    for name, attribute in content.attributes.items():
        op.attributes[name] = attribute
    with op.context, ir.Location.unknown():
        discarded = ir.Module.create()
    op.regions[0].blocks[0].append_to(discarded.operation.regions[0])
    content.regions[0].blocks[0].append_to(op.regions[0])

"""The pass `sdy-save-module`, and files of a module between passes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sdy.dialect.errors import Error
from sdy.ir.diagnostics import warn
from sdy.passes.base import Pass, option

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["NO_INDEX", "SaveModule", "save_module"]

NO_INDEX = -1


@dataclass(frozen=True, slots=True)
class SaveModule(Pass):
    """Writes the module to a file of a directory, as it is between two passes.

    The file is `NAME.mlir`, or `NN.NAME.mlir` with an index of two digits or more. What was in
    it is overwritten, and the directory is made where it is missing. Without a directory nothing
    is written; where the file cannot be, that is a warning.
    """

    name: ClassVar[str] = "sdy-save-module"
    dump_directory: str = option("", "The directory.")
    file_name: str = option("module", "The name of the file, without index and ending.")
    dump_index: int = option(NO_INDEX, "A number in front of the name, from 0; -1 for none.")

    def __post_init__(self) -> None:
        """Check the options."""
        if self.dump_index < NO_INDEX:
            raise Error(f"dump-index must be at least 0, or -1 for none, got {self.dump_index}")
        if self.file_name in ("", ".", "..") or "/" in self.file_name:
            raise Error(f"file-name must be the name of a file alone, got '{self.file_name}'")

    def run(self, module: IndexedModule) -> None:
        """Write the file."""
        save_module(module.operation, self.dump_directory, self.file_name, self.dump_index)


def save_module(module: ir.Operation, directory: str, name: str, index: int = NO_INDEX) -> None:
    """Write the text of a module to `directory/NN.name.mlir`, where NN is the index if any.

    Nothing is written where the directory is "". What goes wrong is a warning.
    """
    if not directory:
        return
    prefix = "" if index == NO_INDEX else f"{index:02}."
    path = Path(directory) / f"{prefix}{name}.mlir"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(module.get_asm(binary=True))
    except OSError as error:
        warn(module, f"error when writing file {path}: {error.strerror}")
    except ValueError as error:
        warn(module, f"error when writing file {path}: {error}")

"""What a pass is: a frozen dataclass whose fields are its options and whose `run` is its work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sdy.ir.op_names import MODULE

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["Pass", "option"]


def option(default: bool | int | str, description: str, *, in_shardy: bool = True) -> Any:
    """Return a dataclass field that is a pass option, described for `--help`.

    The option's flag is the field's name with dashes for underscores.

    Args:
      default: its value where it is not given.
      description: for `--help`.
      in_shardy: whether Shardy's pass has it too. Otherwise a pipeline is printed with it only
        where it is set, so that other printed pipelines are Shardy's too.

    """
    return field(default=default, metadata={"help": description, "in_shardy": in_shardy})


@dataclass(frozen=True, slots=True)
class Pass(ABC):
    """Module in, module out.

    A subclass is named by its flag, has its options as fields, and says in its docstring what
    it does: the docstring is its `--help` and its page in the reference.

    Attributes:
      name: the flag, without dashes in front.
      anchor: the op under which a textual pipeline nests it; `any` where it may be nested
        anywhere. A pass on functions, too, is given the whole module: it does to every function
        what it would do to that function alone.

    """

    name: ClassVar[str]
    anchor: ClassVar[str] = MODULE

    @abstractmethod
    def run(self, module: IndexedModule) -> None:
        """Change `module` in place; `sdy.Error` where the input cannot be."""

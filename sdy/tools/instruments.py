"""What sdy-opt shows of a pass manager at work: times, and the module between the passes."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.passes.pass_manager import Instrument
from sdy.passes.upstream import UpstreamPass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jaxlib.mlir import ir

    from sdy.passes.pipeline import Step
    from sdy.tools.flags import Options

__all__ = ["IRPrinter", "PrintWhen", "Timing"]

_RULE = f"===-{'-' * 73}-==="


class Timing(Instrument):
    """Wall time of the parser, each pass, the verifier and the output, in the order of the run."""

    def __init__(self) -> None:
        self._entries: list[tuple[str, float]] = []
        self._started = time.perf_counter()
        self._pass_started = 0.0
        self._verifier_started = 0.0
        self._verifier_time = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the block under that name."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._entries.append((name, time.perf_counter() - started))

    def before_pass(self, step: Step, module: ir.Module) -> None:  # noqa: ARG002
        """Start the clock of a pass."""
        self._pass_started = time.perf_counter()
        self._verifier_time = 0.0

    def after_pass(self, step: Step, module: ir.Module) -> None:  # noqa: ARG002
        """Stop the clock; the time of the verifier is an entry of its own."""
        elapsed = time.perf_counter() - self._pass_started
        self._entries.append((step.name, elapsed - self._verifier_time))
        if self._verifier_time:
            self._entries.append(("(V) verifier", self._verifier_time))

    def before_verifier(self) -> None:
        """Start the verifier's clock."""
        self._verifier_started = time.perf_counter()

    def after_verifier(self) -> None:
        """Stop the verifier's clock."""
        self._verifier_time = time.perf_counter() - self._verifier_started

    def report(self) -> str:
        """Return the table of times, in seconds and as parts of the total."""
        total = time.perf_counter() - self._started
        rest = total - sum(seconds for _, seconds in self._entries)
        rows = [*self._entries, ("Rest", rest), ("Total", total)]
        return "\n".join(
            [
                _RULE,
                "... Execution time report ...".center(len(_RULE)).rstrip(),
                _RULE,
                f"  Total Execution Time: {total:.4f} seconds",
                "",
                "  ----Wall Time----  ----Name----",
                *(f"  {s:8.4f} ({s / total:6.1%})  {name}" for name, s in rows),
            ]
        )


@dataclass(frozen=True, slots=True)
class PrintWhen:
    """At which passes the module is printed.

    Attributes:
      before: names of passes; None for all.
      after: names of passes; None for all.
      only_changes: whether only passes that change the module count, for `after`.
      failures: whether the module is printed after a pass that fails.

    """

    before: tuple[str, ...] | None = ()
    after: tuple[str, ...] | None = ()
    only_changes: bool = False
    failures: bool = False

    @staticmethod
    def from_options(options: Options) -> PrintWhen:
        """Return what the flags ask for; a change alone stands for all changes."""
        after_all = options.print_ir_after_all or (
            options.print_ir_after_change and not options.print_ir_after
        )
        return PrintWhen(
            before=None if options.print_ir_before_all else options.print_ir_before,
            after=None if after_all else options.print_ir_after,
            only_changes=options.print_ir_after_change,
            failures=options.print_ir_after_failure,
        )


class IRPrinter(Instrument):
    """Prints the module before and after passes, under a headline that names the pass."""

    def __init__(
        self,
        when: PrintWhen,
        to_text: Callable[[ir.Module], str],
        write: Callable[[str], object],
    ) -> None:
        self._when = when
        self._to_text = to_text
        self._write = write
        self._before = ""

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Print where asked for, and keep the text to tell a change."""
        if _includes(self._when.before, step):
            self._print("Before", step, self._to_text(module))
        if self._when.only_changes and _includes(self._when.after, step):
            self._before = self._to_text(module)

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Print where asked for."""
        if not _includes(self._when.after, step):
            return
        text = self._to_text(module)
        if not self._when.only_changes or text != self._before:
            self._print("After", step, text)

    def after_failure(self, step: Step, module: ir.Module) -> None:
        """Print where asked for, whatever the pass left."""
        if self._when.failures or _includes(self._when.after, step):
            title = f"IR Dump After {_title(step)} Failed"
            self._write(f"// -----// {title} //----- //\n{self._to_text(module)}")

    def _print(self, when: str, step: Step, text: str) -> None:
        self._write(f"// -----// IR Dump {when} {_title(step)} //----- //\n{text}")


def _includes(names: tuple[str, ...] | None, step: Step) -> bool:
    return names is None or step.name in names


def _title(step: Step) -> str:
    """Return the class of a pass, where it has one here, and its name."""
    if isinstance(step.action, UpstreamPass):
        return f"{step.name} ({step.name})"
    return f"{type(step.action).__name__} ({step.name})"

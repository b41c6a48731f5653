"""Runs the passes of a pipeline on a module, and tells instruments about it."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from enum import Enum, auto
from typing import TYPE_CHECKING

from sdy.dialect.errors import Error
from sdy.ir.diagnostics import Diagnostic, DiagnosticError, verify
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.symbols import NotTextError
from sdy.passes.pass_bug import error_of_pass
from sdy.passes.pipeline import ANY_OP
from sdy.passes.upstream import UpstreamPass, run_manager

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jaxlib.mlir import ir
    from jaxlib.mlir import passmanager as mlir_passmanager

    from sdy.passes.pipeline import Pipeline, Step

__all__ = ["Instrument", "PassManager", "Verification", "collector_paused", "run_step"]


class Verification(Enum):
    """When MLIR's verifier runs."""

    NEVER = auto()
    LAST = auto()
    EACH = auto()


class Instrument:
    """Is told what a pass manager does. A subclass overrides what it wants to know."""

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Tell that a pass is about to run."""

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Tell that a pass has run and, if asked for, that the module was verified."""

    def after_failure(self, step: Step, module: ir.Module) -> None:
        """Tell that a pass has failed."""

    def before_verifier(self) -> None:
        """Tell that the verifier is about to run."""

    def after_verifier(self) -> None:
        """Tell that the module was found valid."""


class PassManager:
    """The passes of one pipeline, ready to run on modules of one context."""

    def __init__(
        self,
        pipeline: Pipeline,
        context: ir.Context,
        *,
        verification: Verification = Verification.LAST,
        instruments: Sequence[Instrument] = (),
    ) -> None:
        """Make the managers of MLIR's passes; `sdy.Error` where there is no such pass or op.

        Args:
          pipeline: the passes.
          context: that of the modules to come.
          verification: whether to verify the module after every pass, at the end, or never.
          instruments: are told in this order before a pass, in reverse after it.

        """
        self._pipeline = pipeline
        self._verification = verification
        self._instruments = tuple(instruments)
        self._managers: list[mlir_passmanager.PassManager | None] = []
        with context:
            for step in pipeline.steps:
                _check_anchors(step, context)
                if isinstance(step.action, UpstreamPass):
                    self._managers.append(step.action.build(step.anchors))
                else:
                    self._managers.append(None)

    def run(self, module: ir.Module) -> None:
        """Run the passes in place. After an error the module is in no defined state.

        Raises:
          Error: where a pass cannot work on the module, or leaves an invalid one.

        """
        with module.context, collector_paused():
            # What is known of the module is let go of before the collector could look at it.
            self._run_steps(IndexedModule(module, writes_late=True))

    def _run_steps(self, indexed: IndexedModule) -> None:
        for step, manager in zip(self._pipeline.steps, self._managers, strict=True):
            for instrument in self._instruments:
                instrument.before_pass(step, indexed.module)
            try:
                self._run_step(step, indexed, manager)
            except Error:
                for instrument in self._instruments:
                    instrument.after_failure(step, indexed.module)
                raise
            for instrument in reversed(self._instruments):
                instrument.after_pass(step, indexed.module)
        indexed.write_attributes()

    def _run_step(
        self, step: Step, indexed: IndexedModule, manager: mlir_passmanager.PassManager | None
    ) -> None:
        run_step(step, indexed, manager)
        is_last = step is self._pipeline.steps[-1]
        if self._verification is Verification.EACH or (
            is_last and self._verification is Verification.LAST
        ):
            self._verify(step, indexed.module)

    def _verify(self, step: Step, module: ir.Module) -> None:
        for instrument in self._instruments:
            instrument.before_verifier()
        try:
            verify(module)
        except DiagnosticError as error:
            is_known = self._verification is Verification.EACH
            culprit = f"pass '{step.name}'" if is_known else "the pipeline"
            note = Diagnostic("note", f"{culprit} has left a module that is not valid")
            raise DiagnosticError([*error.diagnostics, note]) from None
        for instrument in reversed(self._instruments):
            instrument.after_verifier()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep Python's cyclic garbage collector from running, if it is on.

    A pass holds a handle to every op; the collector would look at all of them, again and again,
    and they are in no cycles.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _check_anchors(step: Step, context: ir.Context) -> None:
    for anchor in step.anchors:
        if anchor != ANY_OP and not context.is_registered_operation(anchor):
            raise Error(f"pass '{step.name}' is nested in '{anchor}', which is no known op")


def run_step(
    step: Step, indexed: IndexedModule, manager: mlir_passmanager.PassManager | None = None
) -> None:
    """Run one pass. The context must be entered.

    Args:
      step: the pass.
      indexed: the module.
      manager: that of a pass of MLIR; made here where it is not given.

    Raises:
      Error: where the pass cannot work on the module; PassBugError where the pass is at fault.

    """
    if isinstance(step.action, UpstreamPass):
        indexed.ops_changed()
        indexed.meshes_changed()
        run_manager(manager or step.action.build(step.anchors), indexed.module)
        return
    try:
        step.action.run(indexed)
    except NotTextError as error:
        raise error_of_pass(step.name, indexed.module, error) from None
    except Error:
        raise
    except Exception as error:
        raise error_of_pass(step.name, indexed.module, error) from error

"""MLIR's and StableHLO's own passes, run by jaxlib's pass manager.

jaxlib also carries a compiled Shardy. Its passes and its canonicalisation patterns are never run
from here: a pipeline that would reach them is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _mlirHlo, _stablehlo

from sdy.dialect.errors import Error
from sdy.ir.diagnostics import errors_as_exceptions
from sdy.ir.op_names import FUNCTION, MODULE
from sdy.passes.registry import UnknownPassError

__all__ = ["UpstreamPass", "check_exists", "run_manager", "run_upstream"]

_KNOWN = (
    "canonicalize",
    "cse",
    "inline",
    "loop-invariant-code-motion",
    "remove-dead-values",
    "sccp",
    "stablehlo-legalize-to-vhlo",
    "stablehlo-refine-shapes",
    "strip-debuginfo",
    "symbol-dce",
    "symbol-privatize",
    "topological-sort",
    "trivial-dce",
)

_CANONICALIZE = re.compile(r"(?<![\w-])canonicalize(?![\w-])(?:\{((?:[^{}]|\{[^{}]*\})*)\})?")


@dataclass(frozen=True, slots=True)
class UpstreamPass:
    """A pass of MLIR or StableHLO, by name, with the text of its options."""

    name: str
    options: str = ""

    def __str__(self) -> str:
        options = self.options
        if self.name == "inline" and "default-pipeline" not in options:
            # The default is `canonicalize`, which runs the compiled patterns of sdy ops.
            options = f"default-pipeline= {options}".rstrip()
        return self.name + ("{" + options + "}" if options else "")

    def build(self, anchors: tuple[str, ...]) -> passmanager.PassManager:
        """Return a manager that runs the pass, nested in `anchors` of the module.

        Without anchors the pass nests itself: it runs on the module, or else on each function.
        The context must be entered.

        Raises:
          Error: where there is no such pass or option, or the nesting is not that of the pass.

        """
        _register()
        nestings = [anchors] if anchors else [(MODULE,), (MODULE, FUNCTION)]
        failure: ValueError | None = None
        for nesting in nestings:
            text = "(".join([*nesting, str(self)]) + ")" * len(nesting)
            try:
                manager = passmanager.PassManager.parse(text)
            except ValueError as error:
                failure = error
            else:
                _refuse_compiled_shardy(self.name, str(manager))
                return manager
        raise self._explain(str(failure))

    def _explain(self, failure: str) -> Error:
        if "does not refer to a registered pass" in failure:
            return UnknownPassError(self.name, _KNOWN)
        option = re.search(r"no such option (.*)", failure)
        if option:
            return Error(f"pass '{self.name}' has no option '{option[1].strip()}'")
        reason = " ".join(line for line in failure.splitlines() if line.strip())
        return Error(f"pass '{self.name}' cannot be added: {reason}")


def check_exists(name: str, context: ir.Context) -> None:
    """Raise UnknownPassError where MLIR has no pass of that name."""
    with context:
        try:
            UpstreamPass(name).build(())
        except UnknownPassError:
            raise
        except Error:
            # It exists, and does not run on a module or a function.
            return


@cache
def _register() -> None:
    _stablehlo.register_stablehlo_passes()
    _mlirHlo.register_mhlo_passes()


def _refuse_compiled_shardy(name: str, expanded: str) -> None:
    unfiltered = any(
        "enable-patterns=" not in options and "filter-dialects=" not in options
        for options in _CANONICALIZE.findall(expanded)
    )
    if "sdy" in expanded or unfiltered:
        raise Error(
            f"pass '{name}' would run compiled passes or patterns of Shardy, which sdy does not use"
        )


def run_upstream(module: ir.Module, name: str, options: str = "") -> None:
    """Run one pass of MLIR on `module`, in place; `sdy.Error` where it fails."""
    with module.context:
        run_manager(UpstreamPass(name, options).build(()), module)


def run_manager(manager: passmanager.PassManager, module: ir.Module) -> None:
    """Run a manager of jaxlib without its verifier; `sdy.Error` where a pass fails."""
    manager.enable_verifier(False)
    with errors_as_exceptions(module.context):
        manager.run(module.operation)

"""MLIR's `canonicalize`, with patterns of our own for the sdy dialect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from sdy.dialect.errors import Error
from sdy.ir.op_names import SDY_CONSTANT
from sdy.ir.op_traits import CONSTANT_LIKE
from sdy.passes.base import Pass, option
from sdy.passes.canonicalize.driver import rewrite_greedily
from sdy.passes.canonicalize.patterns import PATTERNS
from sdy.passes.upstream import run_upstream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.canonicalize.driver import Pattern

__all__ = ["Canonicalize"]

_SDY = "sdy"
_BUILTIN = "builtin"
_NO_LIMIT = -1
_REGION_SIMPLIFY = ("disabled", "normal", "aggressive")
_HOIST_CONSTANTS = {"max-num-rewrites": "0", "region-simplify": "disabled"}
# No pattern has this name: enabling it alone leaves MLIR's folding and clearing away.
_NO_PATTERN = "none"
_OUR_NAMES = {name for pattern in PATTERNS for name in (pattern.name, pattern.label)}
# Those whose constants, which folding may create, have known names.
_KNOWN_DIALECTS = frozenset({"chlo", "func", "mhlo", "sdy", "stablehlo"})
_FOLDED = CONSTANT_LIKE - {SDY_CONSTANT}
_ONE_ITERATION = {"max-iterations": "1", "test-convergence": "true"}


@dataclass(frozen=True, slots=True)
class Canonicalize(Pass):
    """Brings ops into their canonical form.

    Reshards are fused and shared, collectives that do nothing or undo each other go, an
    all-reduce that is sliced turns into a reduce-scatter, manual computations lose operands that
    they do not use and are inlined where they have nothing manual. All else is MLIR's: ops that
    nothing uses are erased, constants are merged and moved to the front, other dialects' patterns
    are applied.

    An iteration is our part and then MLIR's; the next one begins where either changed something.
    """

    name: ClassVar[str] = "canonicalize"
    anchor: ClassVar[str] = "any"

    top_down: bool = option(True, "Whether to visit ops in the order of the text.")
    region_simplify: str = option(
        "normal", "How to simplify control flow: disabled, normal or aggressive."
    )
    max_iterations: int = option(10, "How often to start again at most; -1 for no limit.")
    max_num_rewrites: int = option(
        -1, "How much to rewrite at most; only -1, no limit, where there are sdy ops to rewrite."
    )
    test_convergence: bool = option(False, "Whether to fail where max-iterations are not enough.")
    cse_between_iterations: bool = option(
        False, "Whether to eliminate common subexpressions each time."
    )
    disable_patterns: str = option(
        "", "Patterns not to use, by name or label, separated by commas."
    )
    enable_patterns: str = option(
        "",
        "Patterns to use, by name or label, separated by commas; all if empty. "
        "Those for sdy ops have the labels sdy-reshard and sdy-collective.",
    )
    filter_dialects: str = option(
        "", "Dialects whose patterns to use, separated by commas; all if empty."
    )

    def __post_init__(self) -> None:
        """Check the options."""
        for flag, value in (
            ("max-iterations", self.max_iterations),
            ("max-num-rewrites", self.max_num_rewrites),
        ):
            if not _NO_LIMIT <= value < 1 << 63:
                raise Error(
                    f"option '{flag}' of pass '{self.name}': "
                    f"expected a number from 0 to 2**63 - 1, or -1 for no limit, got {value}"
                )
        if self.region_simplify not in _REGION_SIMPLIFY:
            raise Error(
                f"option 'region-simplify' of pass '{self.name}': "
                f"expected {', '.join(_REGION_SIMPLIFY)}, got '{self.region_simplify}'"
            )

    def run(self, module: IndexedModule) -> None:
        """Canonicalize all of `module`.

        Raises:
          Error: for an option that is wrong or not supported, and where `test_convergence` asks
            for it.

        """
        self.run_with(module, [pattern for pattern in PATTERNS if self._selects(pattern)])

    def run_with(self, module: IndexedModule, patterns: Sequence[Pattern]) -> None:
        """Canonicalize all of `module` with these patterns in place of those for sdy ops."""
        options = self._upstream_options(module)
        if not any(pattern.op_name in module.names for pattern in patterns):
            self._run_alone(module, options)
            return
        self._check_limits()
        for _ in count() if self.max_iterations == _NO_LIMIT else range(self.max_iterations):
            _run_upstream(module, options | _HOIST_CONSTANTS)
            changed = rewrite_greedily(module, patterns, top_down=self.top_down)
            module.ops_changed()
            if not (_upstream_changes(options, module.module) or changed):
                return
        if self.test_convergence:
            raise Error(f"canonicalize did not converge in {self.max_iterations} iterations")

    def _run_alone(self, module: IndexedModule, options: dict[str, str]) -> None:
        """Run MLIR's pass, as there is nothing for our part to do."""
        limits = self._upstream_limits()
        if self._changes_little(module, options):
            if not module.change_blindly(partial(_upstream_changes, options), _FOLDED):
                return
            if self.max_iterations != _NO_LIMIT:
                limits["max-iterations"] = str(self.max_iterations - 1)
        _run_upstream(module, limits | options)

    def _changes_little(self, module: IndexedModule, options: dict[str, str]) -> bool:
        """Return whether one iteration of MLIR's pass can tell whether it changes anything.

        It does not tell that it merges or moves constants. Without patterns, it looks at no
        attribute that others than constants could have late.
        """
        names = module.names
        return (
            options.get("enable-patterns") == _NO_PATTERN
            and self.region_simplify != "aggressive"
            and (self.max_iterations > 1 or self.max_iterations == _NO_LIMIT)
            and self.max_num_rewrites == _NO_LIMIT
            and not self.test_convergence
            and not self.cse_between_iterations
            and all(name.partition(".")[0] in _KNOWN_DIALECTS for name in names)
            and _FOLDED.isdisjoint(names)
        )

    def _check_limits(self) -> None:
        if self.max_num_rewrites != _NO_LIMIT:
            raise Error("canonicalize cannot limit max-num-rewrites where it rewrites sdy ops")
        if self.cse_between_iterations:
            raise Error("canonicalize cannot do cse-between-iterations where it rewrites sdy ops")

    def _selects(self, pattern: Pattern) -> bool:
        names = {pattern.name, pattern.label}
        enabled = _items(self.enable_patterns)
        dialects = _items(self.filter_dialects)
        return (
            not names & _items(self.disable_patterns)
            and (not enabled or bool(names & enabled))
            and (not dialects or _SDY in dialects)
        )

    def _upstream_options(self, module: IndexedModule) -> dict[str, str]:
        """Return the options under which MLIR's pass does everything but the sdy patterns."""
        options = {
            "top-down": _flag(self.top_down),
            "region-simplify": self.region_simplify,
            "filter-dialects": ",".join(self._upstream_dialects(module)),
        }
        disabled = _items(self.disable_patterns) - _OUR_NAMES
        if disabled:
            options["disable-patterns"] = ",".join(sorted(disabled))
        if self.enable_patterns:
            enabled = _items(self.enable_patterns) - _OUR_NAMES
            options["enable-patterns"] = ",".join(sorted(enabled)) or _NO_PATTERN
        return options

    def _upstream_limits(self) -> dict[str, str]:
        return {
            "max-iterations": str(self.max_iterations),
            "max-num-rewrites": str(self.max_num_rewrites),
            "test-convergence": _flag(self.test_convergence),
            "cse-between-iterations": _flag(self.cse_between_iterations),
        }

    def _upstream_dialects(self, module: IndexedModule) -> list[str]:
        """Return the dialects in the module whose compiled patterns may be used: all but sdy."""
        present = {
            name.partition(".")[0]
            for name in module.names
            if module.context.is_registered_operation(name)
        }
        chosen = _items(self.filter_dialects) or present
        return sorted(present & chosen - {_SDY}) or [_BUILTIN]


def _run_upstream(module: IndexedModule, options: dict[str, str]) -> None:
    module.ops_changed()
    run_upstream(module.module, Canonicalize.name, _text(options))


def _text(options: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in options.items())


def _upstream_changes(options: dict[str, str], module: ir.Module) -> bool:
    """Run one iteration of MLIR's pass; return whether it did anything.

    Only a failure to converge tells that it did.
    """
    try:
        run_upstream(module, Canonicalize.name, _text(options | _ONE_ITERATION))
    except Error:
        return True
    return False


def _items(text: str) -> set[str]:
    return {item.strip() for item in text.split(",") if item.strip()}


def _flag(value: bool) -> str:
    return "true" if value else "false"

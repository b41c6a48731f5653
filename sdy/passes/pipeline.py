"""Textual pipelines: which passes run, with which options, on what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.dialect.errors import Error, check_type
from sdy.ir.op_names import MODULE
from sdy.passes.options import format_options, make_pass
from sdy.passes.pass_pipeline import PassPipeline
from sdy.passes.pipeline_text import Element, parse_elements
from sdy.passes.registry import get_pass, pass_names
from sdy.passes.upstream import UpstreamPass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxlib.mlir import ir

    from sdy.passes.base import Pass

__all__ = ["ANY_OP", "Pipeline", "Step", "parse_pipeline", "pass_steps", "run_pipeline"]

ANY_OP = "any"


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of a pipeline.

    Attributes:
      anchors: the ops that it is nested in, outermost first; none where the pass nests itself.
      action: a pass of this package, or one of MLIR.

    """

    anchors: tuple[str, ...]
    action: Pass | UpstreamPass

    @property
    def name(self) -> str:
        """The flag of the pass."""
        return self.action.name

    @property
    def nesting(self) -> tuple[str, ...]:
        """The anchors, where the pass nests itself those that it chooses."""
        if self.anchors or isinstance(self.action, UpstreamPass):
            return self.anchors or (MODULE,)
        return _own_nesting(self.action)

    def __str__(self) -> str:
        if isinstance(self.action, UpstreamPass):
            return str(self.action)
        return self.action.name + format_options(self.action)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Passes in the order in which they run."""

    steps: tuple[Step, ...]

    def __str__(self) -> str:
        nested = [(step.nesting[1:], str(step)) for step in self.steps]
        return f"{MODULE}({_format_nested(nested)})"


def _format_nested(items: list[tuple[tuple[str, ...], str]]) -> str:
    """Return the passes with each run of neighbours in one op under one pair of parentheses."""
    parts: list[str] = []
    at = 0
    while at < len(items):
        anchors, text = items[at]
        end = at + 1
        if anchors:
            while end < len(items) and items[end][0][:1] == anchors[:1]:
                end += 1
            inner = [(below[1:], name) for below, name in items[at:end]]
            text = f"{anchors[0]}({_format_nested(inner)})"
        parts.append(text)
        at = end
    return ",".join(parts)


def parse_pipeline(text: str) -> Pipeline:
    """Return the pipeline of `builtin.module(...)`, or of passes that nest themselves.

    Raises:
      Error: naming the pass, option or value that is wrong, and a near miss where there is one.

    """
    steps: list[Step] = []
    for element in parse_elements(text):
        if element.nested is None:
            steps.extend(_pass_steps(element, ()))
        elif element.name in (MODULE, ANY_OP):
            steps.extend(_steps(element.nested, (MODULE,)))
        else:
            raise Error(f"a pipeline on a module cannot start with '{element.name}(...)'")
    return Pipeline(tuple(steps))


def _steps(elements: tuple[Element, ...], anchors: tuple[str, ...]) -> Iterator[Step]:
    for element in elements:
        if element.nested is None:
            yield from _pass_steps(element, anchors)
        else:
            yield from _steps(element.nested, (*anchors, element.name))


def pass_steps(name: str, options: str = "") -> tuple[Step, ...]:
    """Return the pass with that flag and those options; its passes where it is a pipeline."""
    return _pass_steps(Element(name, options), ())


def _pass_steps(element: Element, anchors: tuple[str, ...]) -> tuple[Step, ...]:
    name, options = element.name, element.options
    if name not in pass_names() and not name.startswith("sdy-"):
        return (Step(anchors, UpstreamPass(name, options)),)
    pass_ = make_pass(get_pass(name), options)
    if anchors and not _may_run_in(pass_, anchors):
        raise Error(
            f"pass '{name}' runs on '{pass_.anchor}', not on '{anchors[-1]}'; "
            f"did you intend to nest it as {_nested_text(pass_)}?"
        )
    if isinstance(pass_, PassPipeline):
        return parse_pipeline(pass_.text()).steps
    return (Step(anchors, pass_),)


def _may_run_in(pass_: Pass, anchors: tuple[str, ...]) -> bool:
    if pass_.anchor == ANY_OP:
        return True
    return anchors == _own_nesting(pass_)


def _own_nesting(pass_: Pass) -> tuple[str, ...]:
    """Return the ops in which a pass nests itself."""
    return (MODULE,) if pass_.anchor in (MODULE, ANY_OP) else (MODULE, pass_.anchor)


def _nested_text(pass_: Pass) -> str:
    inner = pass_.name if pass_.anchor == MODULE else f"{pass_.anchor}({pass_.name})"
    return f"'{MODULE}({inner})'"


def run_pipeline(module: ir.Module, text: str) -> ir.Module:
    """Run a textual pipeline on `module`, in place, and return it.

    Where it fails the module has the content that it had before, in new ops: handles to ops and
    values from before the call must not be used then.

    Args:
      module: a valid module.
      text: as mlir-opt has it, such as `builtin.module(sdy-propagation-pipeline, cse)`.

    Raises:
      Error: where the pipeline is not one, or a pass cannot work on the module.

    """
    from jaxlib.mlir import ir

    from sdy.passes.pass_manager import PassManager
    from sdy.passes.transaction import restored_on_error

    check_type(module, ir.Module, "module", "an ir.Module (sdy.load makes one)")
    check_type(text, str, "text", "a str")
    manager = PassManager(parse_pipeline(text), module.context)
    with restored_on_error(module):
        manager.run(module)
    return module

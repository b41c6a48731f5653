"""Attributes that passes set are seen by whoever looks, though MLIR may be told of them late."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.dialect.sharding_rule import DimMapping, OpShardingRule, TensorMapping
from sdy.ir.attributes import SHARDING, SHARDING_RULE
from sdy.ir.call_graph import CallGraph
from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_attributes import LateRule
from sdy.ir.rows import packed
from sdy.ir.structure import NOTHING
from sdy.passes.base import Pass
from sdy.passes.pass_manager import Instrument, PassManager, run_step
from sdy.passes.pipeline import Pipeline, Step, parse_pipeline
from sdy.passes.registry import get_pass

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %a, %c : tensor<4xf32>
  %unused = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.add %0, %c : tensor<4xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<4xf32>
  return %2 : tensor<4xf32>
}"""
PASSES = (
    "sdy-lift-inlined-meshes",
    "sdy-constant-or-scalar-splitter",
    "sdy-user-priority-propagate",
    "sdy-constant-or-scalar-merger",
    "sdy-sharding-constraint-to-reshard",
    "sdy-close-shardings",
    "sdy-drop-sharding-rules",
)
NEGATE = "stablehlo.negate"
SPLIT = '#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>'


def attributes(module: IndexedModule, name: str) -> dict[int, ir.Attribute]:
    """Return the attributes of that name by op, as passes are told of them."""
    told = [module.attribute(number, name) for number in range(len(module.late_ops))]
    return {number: attribute for number, attribute in enumerate(told) if attribute is not None}


@pytest.mark.parametrize("count", range(1, len(PASSES) + 1))
@pytest.mark.parametrize("writes_late", [False, True])
def test_passes_agree_with_mlir(count: int, writes_late: bool) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=writes_late)
        for name in PASSES[:count]:
            get_pass(name)().run(module)
        found = {n: str(attribute) for n, attribute in attributes(module, SHARDING).items()}
        ops = module.late_ops
        module.write_attributes()
        written = {
            number: str(op.attributes[SHARDING])
            for number, op in enumerate(ops)
            if number not in module.changes.erased and SHARDING in op.attributes
        }
        assert found == written
        assert len(found) > 0


LOOKS: dict[str, Callable[[IndexedModule], str]] = {
    "module": lambda module: str(module.module),
    "operation": lambda module: str(module.operation),
    "ops": lambda module: str(module.ops(NEGATE)[1]),
    "read_ops": lambda module: str(module.read_ops(NEGATE)[1]),
    "ops of a function": lambda module: str(module.ops("func.func")[0]),
    "ops_by_name": lambda module: str(module.ops_by_name[NEGATE][1]),
    "in_order": lambda module: str(module.in_order[-2][1]),
    "walk": lambda module: str(module.walk(ir.WalkOrder.PRE_ORDER)[-2]),
    "numbered_ops": lambda module: str(module.numbered_ops[last_negate(module)]),
    "edit": lambda module: str(module.edit().ops[last_negate(module)]),
    "calls": lambda module: str(CallGraph(module).functions["main"]),
    "write_attributes": lambda module: written(module, None),
    "write_attributes of one op": lambda module: written(module, [last_negate(module)]),
}


def shown(text: str) -> str | None:
    """Return the sharding of the last negate in a text."""
    line = [line for line in text.splitlines() if "negate" in line][-1]
    found = re.search(r"sdy.sharding = (#sdy.*)}", line)
    return found and found[1]


def last_negate(module: IndexedModule) -> int:
    return module.numbers(NEGATE)[-1]


def written(module: IndexedModule, numbers: list[int] | None) -> str:
    module.write_attributes(numbers)
    return str(module.late_ops[last_negate(module)])


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("text", [SPLIT, None])
def test_whoever_looks_sees_them(look: Callable[[IndexedModule], str], text: str | None) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=True)
        number = last_negate(module)
        sharding = None if text is None else ir.Attribute.parse(text)
        before = module.late_ops[number].attributes.get(SHARDING)
        module.set_attributes(SHARDING, {number: sharding})
        assert module.attribute(number, SHARDING) == sharding
        assert module.late_ops[number].attributes.get(SHARDING) == before
        assert shown(look(module)) == text


def test_what_is_dropped_before_is_never_written() -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=True)
        number = last_negate(module)
        rule = ir.Attribute.parse("#sdy.op_sharding_rule<([i])->([i]) {i=4}>")
        module.set_attributes(SHARDING_RULE, {number: rule})
        module.set_attributes(SHARDING_RULE, {number: None})
        assert attributes(module, SHARDING_RULE) == {}
        assert SHARDING_RULE not in str(module.module)


def test_what_is_dropped_after_one_op_was_written_is_gone() -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=True)
        numbers = module.numbers(NEGATE)
        rule = ir.Attribute.parse("#sdy.op_sharding_rule<([i])->([i]) {i=4}>")
        module.set_attributes(SHARDING_RULE, dict.fromkeys(numbers, rule))
        module.write_attributes(numbers[:1])
        assert str(module._module).count(SHARDING_RULE) == 1
        module.set_attributes(SHARDING_RULE, dict.fromkeys(numbers))
        assert attributes(module, SHARDING_RULE) == {}
        assert SHARDING_RULE not in str(module.module)


def give_late_rules(module: IndexedModule) -> OpShardingRule:
    """Give every negate the rule of a negate, which is not made an attribute yet."""
    mapping = TensorMapping((DimMapping((0,)),))
    rule = OpShardingRule((4,), (mapping,), (mapping,))
    numbers = packed([0 if op.name == NEGATE else NOTHING for op in module.late_ops])
    module.set_numbered_attributes(SHARDING_RULE, [LateRule(rule, module.codec)], numbers)
    return rule


def test_a_late_rule_is_there_for_who_asks() -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=True)
        rule, number = give_late_rules(module), last_negate(module)
        assert module.rule(number) == rule
        assert module.attribute(number, SHARDING_RULE) == module.codec.rule_attribute(rule)
        assert (
            str(module.module).count("sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i])") == 2
        )
        assert module.rule(number) == rule


def test_late_rules_that_nobody_asked_for_are_never_made() -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=True)
        give_late_rules(module)
        module.drop_late_rules()
        assert module.rule(last_negate(module)) is None
        assert SHARDING_RULE not in str(module.module)


def test_a_late_rule_has_the_number_of_an_equal_attribute() -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=True)
        give_late_rules(module)
        unused, last = module.numbers(NEGATE)
        rule = ir.Attribute.parse("#sdy.op_sharding_rule<([i])->([i]) {i=4}>")
        module.set_attributes(SHARDING_RULE, {unused: rule})
        numbers = module.attribute_numbers(SHARDING_RULE)
        assert numbers[unused] == numbers[last]


def test_erased_ops_are_left_alone() -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=True)
        unused, last = module.numbers(NEGATE)
        split = ir.Attribute.parse(SPLIT)
        module.set_attributes(SHARDING, {unused: split, last: split})
        module.erase_numbered([unused])
        assert attributes(module, SHARDING) == {last: split}
        assert shown(str(module.module)) == SPLIT
        assert len(module.read_ops(NEGATE)) == 1


@pytest.mark.parametrize("erases", [False, True])
def test_mlir_may_change_ops_blindly(erases: bool) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(PROGRAM), writes_late=True)
        unused, last = module.numbers(NEGATE)
        split = ir.Attribute.parse(SPLIT)
        module.set_attributes(SHARDING, {unused: split, last: split})

        def change(raw: ir.Module) -> bool:
            assert str(raw).count('[{"x"}]') == 1
            if erases:
                run_step(parse_pipeline("trivial-dce").steps[0], IndexedModule(raw))
            return erases

        assert module.change_blindly(change, ()) == erases
        assert str(module.module).count('[{"x"}]') == (2 if erases else 3)
        assert len(module.read_ops(NEGATE)) == (1 if erases else 2)


class Log(Instrument):
    """Notes what the module looks like."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def before_pass(self, step: Step, module: ir.Module) -> None:
        self.texts.append(f"{module}// {step.name}")

    def after_pass(self, step: Step, module: ir.Module) -> None:
        self.texts.append(f"{module}// {step.name}")

    def after_failure(self, step: Step, module: ir.Module) -> None:
        self.texts.append(f"{module}// {step.name}")


class SetLate(Pass):
    """Sets a sharding."""

    name = "set-late"

    def run(self, module: IndexedModule) -> None:
        module.set_attributes(SHARDING, {last_negate(module): ir.Attribute.parse(SPLIT)})


class Fail(Pass):
    """Sets a sharding and fails."""

    name = "fail"

    def run(self, module: IndexedModule) -> None:
        module.set_attributes(SHARDING, {last_negate(module): ir.Attribute.parse(SPLIT)})
        raise Error("no")


def test_a_pass_manager_leaves_all_written() -> None:
    with make_context() as context:
        module = ir.Module.parse(PROGRAM)
        PassManager(Pipeline((Step((), SetLate()),)), context).run(module)
        assert shown(str(module)) == SPLIT


def test_instruments_see_them() -> None:
    with make_context() as context:
        module, log = ir.Module.parse(PROGRAM), Log()
        step = Step((), SetLate())
        PassManager(Pipeline((step, step)), context, instruments=[log]).run(module)
        seen = [shown(text) == SPLIT for text in log.texts]
        assert seen == [False, True, True, True]


def test_instruments_see_them_after_a_failure() -> None:
    with make_context() as context:
        module, log = ir.Module.parse(PROGRAM), Log()
        manager = PassManager(Pipeline((Step((), Fail()),)), context, instruments=[log])
        with pytest.raises(Error, match="no"):
            manager.run(module)
        assert [shown(text) == SPLIT for text in log.texts] == [False, True]

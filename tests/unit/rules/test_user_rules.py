from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from jax.experimental.custom_partitioning import BATCHING, CompoundFactor, SdyShardingRule
from jaxlib.mlir import ir

import sdy
from sdy.ir.context import make_context

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<8x4xf32> {
  %0 = OP : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""
MATMUL = "i j, j k -> i k"
RULE = "#sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=16, k=4} reduction={j}, custom>"
POPULATE = "builtin.module(func.func(sdy-populate-op-sharding-rules))"


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with sdy.rule_scope():
        yield


def load(op: str = "stablehlo.custom_call @matmul(%a, %b)") -> ir.Module:
    """Return a program with that op on tensors of 8x16 and 16x4 that gives one of 8x4."""
    with make_context(allow_unregistered_dialects=True):
        return ir.Module.parse(PROGRAM.replace("OP", op))


def result_sharding(module: ir.Module) -> str:
    """Propagate and return the sharding of the op's result."""
    sdy.propagate(module)
    (sharding,) = [value.sharding for value in sdy.shardings(module) if value.name == "%0"]
    return str(sharding)


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("matmul", "stablehlo.custom_call @matmul(%a, %b)"),
        ("stablehlo.custom_call", "stablehlo.custom_call @matmul(%a, %b)"),
        ("foreign.matmul", '"foreign.matmul"(%a, %b)'),
        ("mhlo.dot", '"mhlo.dot"(%a, %b)'),
    ],
)
def test_ops_have_the_rule_registered_for_their_name_or_target(name: str, op: str) -> None:
    sdy.register_rule(name, MATMUL, reduction=("j",), replace=name == "stablehlo.custom_call")
    assert result_sharding(load(op)) == 'sharding<@mesh, [{"x"}, {"y"}]>'


def test_the_target_comes_before_the_name_of_the_op() -> None:
    sdy.register_rule("stablehlo.custom_call", "i j, k l -> m n", replace=True)
    sdy.register_rule("matmul", MATMUL, reduction=("j",))
    assert result_sharding(load()) == 'sharding<@mesh, [{"x"}, {"y"}]>'


def test_ops_keep_the_rule_as_one_that_stood_in_the_program() -> None:
    sdy.register_rule("matmul", MATMUL, reduction=("j",))
    for module in (sdy.run_pipeline(load(), POPULATE), sdy.propagate(load())):
        assert f"sdy.sharding_rule = {RULE}" in str(module)


def test_a_rule_in_the_program_counts_first() -> None:
    sdy.register_rule("matmul", MATMUL, reduction=("j",))
    only_rows = "#sdy.op_sharding_rule<([i, j], [k, l])->([i, m]) {i=8, j=16, k=16, l=4, m=4}>"
    op = f"stablehlo.custom_call @matmul(%a, %b) {{sdy.sharding_rule = {only_rows}}}"
    assert result_sharding(load(op)) == 'sharding<@mesh, [{"x"}, {}]>'


def test_a_built_in_rule_is_replaced_when_asked_and_comes_back() -> None:
    dot = "stablehlo.dot %a, %b"
    with pytest.raises(sdy.Error, match=r"'stablehlo.dot' has a built-in sharding rule already"):
        sdy.register_rule("stablehlo.dot", MATMUL)
    sdy.register_rule("stablehlo.dot", "i j, k l -> i m", replace=True)
    assert result_sharding(load(dot)) == 'sharding<@mesh, [{"x"}, {}]>'
    sdy.unregister_rule("stablehlo.dot")
    assert result_sharding(load(dot)) == 'sharding<@mesh, [{"x"}, {"y"}]>'


def test_a_function_of_the_op_gives_the_rule() -> None:
    @sdy.register_rule("matmul")
    def matmul(op: ir.Operation) -> str | None:
        return "i j, k l -> i l" if "transposed" not in op.attributes else None

    assert result_sharding(load()) == 'sharding<@mesh, [{"x"}, {"y"}]>'
    assert matmul.__name__ == "matmul"


def test_no_rule_is_an_answer_of_a_function(recwarn: pytest.WarningsRecorder) -> None:
    sdy.register_rule("matmul", lambda _: None)
    assert "custom_call @matmul(%arg0, %arg1) :" in str(sdy.propagate(load()))
    assert not [w for w in recwarn if w.category is sdy.ShardingWarning]


FOUR_CALLS = """func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  %0 = stablehlo.custom_call @f(%a) {n = 1} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @f(%a) {n = 1} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.custom_call @f(%a) {n = 2} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = stablehlo.custom_call @f(%b) {n = 1} : (tensor<4xf32>) -> tensor<4xf32>
  return
}"""


@pytest.mark.parametrize(("reads", "calls"), [(None, 4), ((), 2), (("n",), 3)])
def test_a_function_is_called_once_for_what_it_reads(
    reads: tuple[str, ...] | None, calls: int
) -> None:
    seen = []

    def rule(op: ir.Operation) -> str:
        seen.append(op.name)
        return "i -> i"

    sdy.register_rule("f", rule, reads=reads)
    sdy.run_pipeline(sdy.load(FOUR_CALLS), POPULATE)
    assert len(seen) == calls


def test_rules_come_in_several_forms() -> None:
    forms = [
        sdy.parse_einsum_rule(MATMUL, reduction=("j",)),
        sdy.parse_rule("([i, j], [j, k])->([i, k]) {i=8, j=16, k=4} reduction={j}"),
        SdyShardingRule((("i", "j"), ("j", "k")), (("i", "k"),), reduction_factors=("j",)),
    ]
    for form in forms:
        sdy.register_rule("matmul", form, replace=True)
        assert RULE in str(sdy.run_pipeline(load(), POPULATE))


def test_a_function_may_return_each_of_the_forms() -> None:
    rule = sdy.parse_rule("([i, j], [j, k])->([i, k]) {i=8, j=16, k=4} reduction={j}")
    sdy.register_rule("matmul", lambda _: rule)
    assert RULE in str(sdy.run_pipeline(load(), POPULATE))


def test_rule_objects_of_jax_have_ellipses_and_compound_factors() -> None:
    rule = SdyShardingRule(
        ((BATCHING, CompoundFactor("i", "j")), (f"{BATCHING}1", "k")), ((BATCHING, "k"),), i=2, j=8
    )
    sdy.register_rule("matmul", rule)
    assert "<([i, jk], [l, m])->([i, m]) {i=8, j=2, k=8, l=16, m=4}, custom>" in str(
        sdy.run_pipeline(load(), POPULATE)
    )


def test_a_rule_that_does_not_fit_names_rule_and_op_at_the_op() -> None:
    sdy.register_rule("matmul", "i j, j -> i")
    with pytest.raises(sdy.DiagnosticError) as error:
        sdy.propagate(load())
    assert str(error.value) == (
        "<text>:6:8: error: sharding rule 'i j, j -> i' does not fit custom call @matmul : "
        "(tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>: "
        "operand 1 has rank 1 in the rule, rank 2 in the op"
    )


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("i j -> i j", "the number of operands is 1 in the rule, 2 in the op"),
        ("i j, j k -> i j", "factor 'j' is dimensions of sizes 4 and 16"),
        (
            sdy.parse_rule("([i, j], [j])->([i, j]) {i=8, j=16}"),
            "operand 1 - mapping rank must match: 1 != 2",
        ),
    ],
)
def test_arity_rank_and_sizes_must_be_those_of_the_op(
    rule: str | sdy.OpShardingRule, message: str
) -> None:
    sdy.register_rule("matmul", rule)
    module = load()
    before = str(module)
    with pytest.raises(sdy.DiagnosticError) as error:
        sdy.propagate(module)
    assert message in str(error.value)
    assert str(module) == before


def test_an_op_with_a_token_can_have_no_rule() -> None:
    sdy.register_rule("f", "i -> i")
    program = """func.func @main(%a: tensor<8xf32>) {
      %0 = stablehlo.custom_call @f(%a) : (tensor<8xf32>) -> !stablehlo.token
      return
    }"""
    with pytest.raises(sdy.Error, match="result 0 is no ranked tensor with a static shape"):
        sdy.propagate(program)


def test_a_function_that_fails_is_named_with_the_op() -> None:
    def broken(op: ir.Operation) -> str:
        return str(op.attributes["missing"])

    sdy.register_rule("matmul", broken)
    with pytest.raises(sdy.DiagnosticError, match=r"rule function 'broken' failed .*KeyError"):
        sdy.propagate(load())
    sdy.register_rule("matmul", lambda _: 42, replace=True)  # type: ignore[arg-type,return-value]
    with pytest.raises(sdy.DiagnosticError, match="expected a sharding rule, got 42"):
        sdy.propagate(load())


def test_only_what_is_neither_known_nor_registered_is_warned_of() -> None:
    with pytest.warns(sdy.ShardingWarning, match="custom call @matmul is unknown"):
        sdy.propagate(load())


@pytest.mark.filterwarnings("error::sdy.ShardingWarning")
@pytest.mark.parametrize("op", ["stablehlo.custom_call @f(%a, %b)", '"foreign.op"(%a, %b)'])
def test_what_is_registered_is_not_warned_of(op: str) -> None:
    for name in ("f", "foreign.op"):
        sdy.register_rule(name, MATMUL)
    sdy.propagate(load(op))
    sdy.run_pipeline(load(op), POPULATE)


def test_a_name_has_one_rule() -> None:
    sdy.register_rule("matmul", MATMUL)
    with pytest.raises(sdy.Error, match="'matmul' has the sharding rule 'i j, j k -> i k' already"):
        sdy.register_rule("matmul", MATMUL)
    with pytest.raises(sdy.Error, match="'Eigh' has a built-in sharding rule already"):
        sdy.register_rule("Eigh", MATMUL)
    sdy.unregister_rule("matmul")
    with pytest.raises(sdy.Error, match="no sharding rule is registered for 'matmul'"):
        sdy.unregister_rule("matmul")


@pytest.mark.parametrize("name", ["stablehlo.while", "func.call", "sdy.manual_computation"])
def test_structure_can_have_no_rule(name: str) -> None:
    with pytest.raises(sdy.Error, match="can have no sharding rule"):
        sdy.register_rule(name, "i -> i", replace=True)


def test_factors_are_for_rules_given_as_text() -> None:
    with pytest.raises(sdy.Error, match="'reduction' is for rules that are given as text"):
        sdy.register_rule("f", lambda _: "i -> i", reduction=("i",))


def test_a_scope_undoes_what_is_registered_in_it_and_is_one_of_its_thread() -> None:
    sdy.register_rule("outer", "i -> i")
    in_thread: list[Exception] = []

    def unregister() -> None:
        try:
            sdy.unregister_rule("inner")
        except sdy.Error as error:
            in_thread.append(error)

    with sdy.rule_scope():
        sdy.register_rule("inner", "i -> i")
        sdy.unregister_rule("outer")
        thread = threading.Thread(target=unregister)
        thread.start()
        thread.join()
    sdy.unregister_rule("outer")
    assert len(in_thread) == 1
    with pytest.raises(sdy.Error, match="registered are: none"):
        sdy.unregister_rule("inner")


@pytest.mark.parametrize("name", [3, None, "", "two words", "line\n", "\ud800"])
def test_what_is_no_name(name: Any) -> None:
    with pytest.raises(sdy.Error, match="name: expected"):
        sdy.register_rule(name, "i -> i")
    with pytest.raises(sdy.Error, match="name: expected"):
        sdy.register_rule(name)


@pytest.mark.parametrize("reads", ["dimension", 3, (1,)])
def test_what_a_function_reads_is_a_tuple_of_names(reads: Any) -> None:
    with pytest.raises(TypeError, match="reads: expected a tuple of names of attributes"):
        sdy.register_rule("mine", lambda _: None, reads=reads)


def test_reads_is_for_functions() -> None:
    with pytest.raises(sdy.Error, match="'reads' is for functions"):
        sdy.register_rule("mine", "i -> i", reads=("dimension",))

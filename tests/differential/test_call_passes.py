"""After each pass on calls, text and order of uses are those of the reference."""

from __future__ import annotations

from random import Random

import pytest

from sdy.dialect.errors import Error
from sdy.passes.pipeline import parse_pipeline
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.call_programs import CALL_PROGRAMS, NAMED_COMPUTATIONS, random_call_program
from tests.differential.comparison import check_passes, ours
from tests.differential.pass_lists import (
    EXPORT_OF_CALLS,
    IMPORT_OF_CALLS,
    PROPAGATION_WITH_RULES,
)
from tests.differential.reference import Reference

ALONE = (
    "sdy-propagate-sharding-from-func-to-call",
    "sdy-flatten-call-graph",
    "sdy-import-func-calls",
    "sdy-import-func-calls{add-data-flow-edges-on-named-computations=false}",
    "sdy-pre-order-funcs",
    "sdy-sharding-group-import",
    "sdy-manual-axes-cleanup",
    "sdy-import-pipeline",
    "sdy-import-pipeline{dedup-functions-fully=true}",
    "sdy-export-named-computations",
    "sdy-propagate-to-func-results",
    "sdy-unflatten-call-graph",
    "sdy-unflatten-call-graph{dedup-functions-fully=true}",
    "sdy-insert-func-call-reshards",
    "symbol-dce",
)

pytestmark = pytest.mark.filterwarnings("ignore:.*multiple call ops")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name: str, reference: Reference) -> None:
    program = PROGRAMS[name]()
    check_passes(program, (",".join(IMPORT_OF_CALLS),), reference)
    propagated = reference.run(
        program, f"builtin.module({','.join([*IMPORT_OF_CALLS, PROPAGATION_WITH_RULES])})"
    )
    check_passes(propagated.text, (",".join(EXPORT_OF_CALLS),), reference)


@pytest.mark.parametrize("name", CALL_PROGRAMS)
def test_programs_by_hand(name: str, reference: Reference) -> None:
    _check_around_propagation(CALL_PROGRAMS[name], reference)


@pytest.mark.parametrize("name", CALL_PROGRAMS)
@pytest.mark.parametrize("pass_", ALONE)
def test_each_pass_alone(name: str, pass_: str, reference: Reference) -> None:
    check_passes(CALL_PROGRAMS[name], (pass_,), reference)


@pytest.mark.parametrize("pass_", ALONE)
def test_each_pass_on_named_computations(pass_: str, reference: Reference) -> None:
    check_passes(NAMED_COMPUTATIONS, (pass_,), reference)


def test_named_computations_that_have_edges_get_no_second_ones(reference: Reference) -> None:
    """The reference's pass adds edges of edges, which are not valid."""
    pipeline = f"builtin.module({','.join(IMPORT_OF_CALLS)})"
    assert "sdy.data_flow_edge" in reference.run(NAMED_COMPUTATIONS, pipeline).error
    text = ours(NAMED_COMPUTATIONS, pipeline).text
    # Two arguments and two results; three inner computations with one of each, and @f itself.
    assert text.count("= sdy.data_flow_edge") == 4 + 3 * 2 + 2


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed: int, reference: Reference) -> None:
    program = random_call_program(Random(seed))
    _check_around_propagation(program, reference)
    check_passes(program, ("sdy-import-func-calls", *EXPORT_OF_CALLS), reference)
    check_passes(
        program,
        (
            "sdy-flatten-call-graph",
            "sdy-propagate-to-func-results",
            "sdy-unflatten-call-graph{dedup-functions-fully=true}",
            "sdy-insert-func-call-reshards",
        ),
        reference,
    )


@pytest.mark.parametrize("name", CALL_PROGRAMS)
@pytest.mark.parametrize(
    "pipeline",
    ["sdy-propagation-pipeline", "sdy-propagation-pipeline{dedup-functions-fully=true}"],
)
def test_whole_pipelines(pipeline: str, name: str, reference: Reference) -> None:
    """The passes are those that the pipeline has here: the reference's has further ones."""
    program = CALL_PROGRAMS[name]
    expected = reference.run(program, str(parse_pipeline(pipeline)))
    assert not expected.error, expected.error
    assert ours(program, f"builtin.module({pipeline})").text == expected.text


@pytest.mark.parametrize("seed", range(40))
def test_random_sharding_groups(seed: int, reference: Reference) -> None:
    random = Random(seed)
    members = [
        f"sdy.sharding_group %a{random.randrange(6)} group_id={random.randrange(9)} : tensor<8xf32>"
        for _ in range(random.randint(1, 12))
    ]
    arguments = ", ".join(f"%a{number}: tensor<8xf32>" for number in range(6))
    program = "\n".join([f"func.func @main({arguments}) {{", *members, "return }"])
    check_passes(program, ("sdy-sharding-group-import",), reference)


def _check_around_propagation(program: str, reference: Reference) -> None:
    imported = check_passes(program, IMPORT_OF_CALLS, reference)
    propagated = reference.run(imported.text, f"builtin.module({PROPAGATION_WITH_RULES})")
    check_passes(propagated.text, EXPORT_OF_CALLS, reference)


RECURSION = """
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @even(%a) : (tensor<8xf32>) -> tensor<8xf32>
      %1 = call @odd(%0) : (tensor<8xf32>) -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    func.func private @even(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @odd(%a) : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func private @odd(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @even(%a) : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
"""


@pytest.mark.parametrize("pass_", ["sdy-flatten-call-graph", "sdy-import-func-calls"])
def test_recursion_is_refused(pass_: str, reference: Reference) -> None:
    assert reference.run(RECURSION, f"builtin.module({pass_})").error
    with pytest.raises(Error, match=r"<text>:12:\d+: error: function @even is recursive"):
        ours(RECURSION, f"builtin.module({pass_})")


def test_a_function_with_some_shardings_may_be_called_twice() -> None:
    """The reference dies of it: it asks an argument that is gone for its rank."""
    program = """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = call @f(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
          %1 = call @f(%0, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
          return %1 : tensor<8xf32>
        }
        func.func private @f(
            %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>
        ) -> tensor<8xf32> {
          return %a : tensor<8xf32>
        }"""
    text = ours(program, "builtin.module(sdy-import-func-calls)").text
    assert text.count('in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{?}]>]') == 2

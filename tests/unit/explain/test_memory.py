"""The memory of small programs, worked out by hand."""

from __future__ import annotations

import sdy
from sdy.explain.memory import Memory

MESH = 'sdy.mesh @mesh = <["x"=4]>\n'
SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
LOCAL = 256 * 4 // 4


def needed(body: str, arguments: str = f"%a: tensor<256xf32> {SPLIT}") -> tuple[Memory, str]:
    text = f"func.func @main({arguments}) -> tensor<256xf32> {{\n{body}\n}}"
    explained = sdy.explain(MESH + text)
    found = explained.memory
    op = "" if found.peak_op is None else explained.ops[found.peak_op].name
    return found, op


def test_arguments_and_results_count_a_shard_each() -> None:
    found, op = needed("%0 = stablehlo.tanh %a : tensor<256xf32>\nreturn %0 : tensor<256xf32>")
    assert (found.arguments, found.results, found.peak) == (LOCAL, LOCAL, 2 * LOCAL)
    assert op == "stablehlo.tanh"


def test_what_only_an_elementwise_op_reads_has_no_place() -> None:
    found, _ = needed("""
      %0 = stablehlo.tanh %a : tensor<256xf32>
      %1 = stablehlo.exponential %0 : tensor<256xf32>
      %2 = stablehlo.sine %1 : tensor<256xf32>
      return %2 : tensor<256xf32>""")
    assert found.peak == 2 * LOCAL


def test_values_live_until_their_last_use() -> None:
    found, op = needed("""
      %0 = stablehlo.reverse %a, dims = [0] : tensor<256xf32>
      %1 = stablehlo.reverse %0, dims = [0] : tensor<256xf32>
      %2 = stablehlo.reverse %1, dims = [0] : tensor<256xf32>
      %3 = stablehlo.add %0, %2 : tensor<256xf32>
      return %3 : tensor<256xf32>""")
    # The argument, and %0, %1 and %2 while %2 is made.
    assert found.peak == 4 * LOCAL
    assert op == "stablehlo.reverse"


def test_a_dying_operand_gives_its_place() -> None:
    found, _ = needed("""
      %0 = stablehlo.reverse %a, dims = [0] : tensor<256xf32>
      %1 = stablehlo.add %0, %a : tensor<256xf32>
      return %1 : tensor<256xf32>""")
    assert found.peak == 2 * LOCAL


def test_what_an_op_gathers_is_alive_while_it_runs() -> None:
    found, op = needed(
        """
      %0 = stablehlo.custom_call @gathered(%a) : (tensor<256xf32>) -> tensor<256xf32>
      return %0 : tensor<256xf32>"""
    )
    # The shard, all of it, and a result that every device has.
    assert found.peak == LOCAL + 2 * 4 * LOCAL
    assert op == "stablehlo.custom_call"


def test_a_loop_needs_what_its_body_needs() -> None:
    found, op = needed("""
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<3> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<256xf32>
      cond {
        %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %n = stablehlo.add %i, %one : tensor<i32>
        %y = stablehlo.reverse %x, dims = [0] : tensor<256xf32>
        %z = stablehlo.reverse %y, dims = [0] : tensor<256xf32>
        stablehlo.return %n, %z : tensor<i32>, tensor<256xf32>
      }
      return %r#1 : tensor<256xf32>""")
    counter = 4
    # The argument, what the loop carries, and two values in the body with the next counter.
    assert found.peak == 4 * LOCAL + 2 * counter
    assert op == "stablehlo.reverse"


def test_an_empty_program_needs_nothing() -> None:
    assert sdy.explain("module {}").memory == Memory(0, 0, 0, None)

"""What the compiled library makes of an op of each name, in a child process.

The ops are built without operands or attributes and are not verified: MLIR's questions about
traits and effects do not look at these, so that every op can be asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from jaxlib.mlir import ir, passmanager

from sdy.ir.context import make_context

__all__ = ["PLACES", "ask", "block_of", "build"]

ROOT = Path(__file__).parents[2]

PLACES = ("alone", "with region", "inside", "inside, with region")
"""Where the op stands: in a function, or in a region of an op that has the effects of its
regions. Its own region, if any, holds a call, which has effects."""

EMPTY = "func.func @main() { return }"
HOST = 'func.func @main() { "scf.execute_region"() ({ scf.yield }) : () -> () return }'

CONFLICT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
                %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""
"""An op that is put between the product and the return, with its result sharded the other way,
gets its way if it goes before the product: if it is elementwise."""

FIRST = '#sdy.sharding<@mesh, [{?}, {"x", ?}]>'


def block_of(module: ir.Module) -> ir.Block:
    """Return the body of @main."""
    function = module.body.operations[len(module.body.operations) - 1]
    return function.regions[0].blocks[0]


def build(name: str, place: str) -> ir.Module:
    """Return a module whose first op in @main is one of that name, or its host; not verified."""
    inside = place.startswith("inside")
    module = ir.Module.parse(HOST if inside else EMPTY)
    block = block_of(module)
    if inside:
        block = block.operations[0].regions[0].blocks[0]
    with_region = place.endswith("with region")
    op = ir.Operation.create(
        name,
        results=[ir.Type.parse("tensor<8x8xf32>")],
        regions=int(with_region),
        ip=ir.InsertionPoint.at_block_begin(block),
    )
    if with_region:
        ir.Operation.create("func.call", ip=ir.InsertionPoint(op.regions[0].blocks.append()))
    return module


def ask(question: str, names: list[str]) -> set[str]:
    """Return those names for which the library says yes.

    Questions: a place (is the op, or its host, erased there?) or "elementwise".
    """
    child = subprocess.run(
        [sys.executable, "-m", "tests.differential.op_probe", question],
        input=json.dumps(names),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(json.loads(child.stdout))


def _is_erased(name: str, place: str) -> bool:
    module = build(name, place)
    _run(module, "trivial-dce")
    return len(block_of(module).operations) == 1


def _is_elementwise(name: str) -> bool:
    module = ir.Module.parse(CONFLICT)
    product, returned = (op.operation for op in block_of(module).operations)
    op = ir.Operation.create(
        name,
        operands=[product.results[0]],
        results=[product.results[0].type],
        attributes={
            "sharding": ir.Attribute.parse(FIRST),
            "sdy.sharding": ir.Attribute.parse(
                FIRST.replace("sharding<", "sharding_per_value<[<") + "]>"
            ),
            "sdy.sharding_rule": ir.Attribute.parse(
                "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>"
            ),
        },
        ip=ir.InsertionPoint(returned),
    )
    returned.operands[0] = op.results[0]
    _run(module, "sdy-op-priority-propagate")
    return '[{?}, {"x", ?}]' in str(product.attributes["sdy.sharding"])


def _run(module: ir.Module, name: str) -> None:
    pipeline = passmanager.PassManager.parse(f"builtin.module({name})")
    pipeline.enable_verifier(False)
    pipeline.run(module.operation)


def _answer(question: str, names: list[str]) -> list[str]:
    with make_context(), ir.Location.unknown():
        if question == "elementwise":
            return [name for name in names if _is_elementwise(name)]
        return [name for name in names if _is_erased(name, question)]


if __name__ == "__main__":
    print(json.dumps(_answer(sys.argv[1], json.load(sys.stdin))))

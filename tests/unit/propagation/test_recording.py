"""What is recorded of a propagation."""

from __future__ import annotations

from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.passes.propagation.engine import ALL_OPS, Engine
from sdy.passes.propagation.graph import Graph
from sdy.passes.propagation.recording import Recording
from sdy.passes.propagation.step_case import Round, Strategy

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(
    %arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def test_steps_are_recorded_in_order() -> None:
    recording = Recording()
    recording.user_priority = 3
    with make_context():
        module = IndexedModule(ir.Module.parse(PROGRAM))
        graph = Graph(module)
        main = graph.names.index("func.func")
        engine = Engine(module, graph, main, {}, conservative=False, observer=recording)
        engine.run(Round(Strategy.BASIC, ALL_OPS))
    steps = [(graph.names[step.op], step.user_priority, step.changes) for step in recording.steps]
    assert [(name, priority) for name, priority, _ in steps] == [
        ("stablehlo.tanh", 3),
        ("stablehlo.negate", 3),
        ("func.func", 3),
    ]
    for _, _, changes in steps:
        ((position, new),) = changes
        assert position == 1
        assert new.body == '@mesh, [{"x", ?}]'
    assert [step.case.shardings[1] for step in recording.steps] == [None] * 3

"""How long propagation takes, against the compiled Shardy inside jaxlib.

    python -m tests.benchmarks.propagation [--layers 2 8 32 96] [--pairs 5]

A train step of so many unrolled layers is lowered by JAX, then goes through the same passes in
ours and in the reference, each from a freshly parsed module; the reference's verifier is off.
Both are measured in turn, pair by pair, in one fresh process for each number of layers. The
answers must be equal.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

from tests.differential.pass_lists import EXPORT, IMPORT

PIPELINE = f"builtin.module({','.join((*IMPORT, 'sdy-user-priority-propagate', *EXPORT))})"


def measure(layers: int, pairs: int) -> dict[str, float]:
    """Time ours and the reference in turn; return medians in seconds, and the ratio's."""
    from tests.corpus.jax_programs import train_step

    text = train_step(layers)

    from jaxlib.mlir import ir
    from jaxlib.mlir import passmanager as mlir_passmanager

    from sdy.ir.context import make_context
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.base import Pass
    from sdy.passes.pipeline import parse_pipeline

    passes = [s.action for s in parse_pipeline(PIPELINE).steps if isinstance(s.action, Pass)]
    ours: list[float] = []
    reference: list[float] = []
    with make_context() as context, ir.Location.unknown():
        manager = mlir_passmanager.PassManager.parse(PIPELINE, context)
        manager.enable_verifier(False)
        for _ in range(pairs):
            expected, module = ir.Module.parse(text), ir.Module.parse(text)
            start = time.perf_counter()
            manager.run(expected.operation)
            reference.append(time.perf_counter() - start)
            start = time.perf_counter()
            indexed = IndexedModule(module)
            for action in passes:
                action.run(indexed)
            ours.append(time.perf_counter() - start)
            if str(module) != str(expected):
                raise SystemExit(f"{layers} layers: the answers differ")
        ops = sum(map(len, IndexedModule(module).ops_by_name.values()))
    ratios = [mine / theirs for mine, theirs in zip(ours, reference, strict=True)]
    return {
        "layers": layers,
        "ops": ops,
        "ours": statistics.median(ours),
        "reference": statistics.median(reference),
        "ratio": statistics.median(ratios),
    }


def main() -> None:
    """Measure each number of layers in a process of its own, and print a table."""
    cli = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    cli.add_argument("--layers", type=int, nargs="+", default=[2, 8, 32, 96])
    cli.add_argument("--pairs", type=int, default=5)
    cli.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = cli.parse_args()
    if arguments.child:
        print(json.dumps(measure(arguments.layers[0], arguments.pairs)))
        return
    print(f"{'layers':>6} {'ops':>7} {'ours':>9} {'reference':>10} {'ratio':>6}")
    for layers in arguments.layers:
        command = [sys.executable, "-m", "tests.benchmarks.propagation", "--child"]
        command += ["--layers", str(layers), "--pairs", str(arguments.pairs)]
        child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        row = json.loads(child.stdout)
        print(
            f"{row['layers']:>6} {row['ops']:>7} {row['ours']:>8.3f}s "
            f"{row['reference']:>9.3f}s {row['ratio']:>6.2f}"
        )


if __name__ == "__main__":
    main()

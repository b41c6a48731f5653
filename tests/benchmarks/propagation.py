"""How long propagation takes, against the compiled Shardy inside jaxlib.

    python -m tests.benchmarks.propagation [--layers 2 8 32 96] [--pairs 5]

A train step of so many unrolled layers is lowered by JAX, then goes through the same passes in
ours and in the reference, each from a freshly parsed module; the reference's verifier is off, and
so is ours. Two lists of passes: those of `sdy-propagation-pipeline` up to and with propagation,
and the whole pipeline. Both are measured in turn, pair by pair, in one fresh process for each
number of layers and list. The answers must be equal.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

from tests.differential.pass_lists import IMPORT_WITH_CALLS

PIPELINES = {
    "up to propagation": ",".join((*IMPORT_WITH_CALLS, "sdy-user-priority-propagate")),
    "whole pipeline": "sdy-propagation-pipeline",
}


def measure(layers: int, passes: str, pairs: int) -> dict[str, float]:
    """Time ours and the reference in turn; return medians in seconds, and the ratio's."""
    from tests.corpus.jax_programs import train_step

    text = train_step(layers)

    from jaxlib.mlir import ir
    from jaxlib.mlir import passmanager as mlir_passmanager

    from sdy.ir.context import make_context
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.pass_manager import PassManager, Verification
    from sdy.passes.pipeline import parse_pipeline

    pipeline = f"builtin.module({passes})"
    ours: list[float] = []
    reference: list[float] = []
    with make_context() as context, ir.Location.unknown():
        theirs = mlir_passmanager.PassManager.parse(pipeline, context)
        theirs.enable_verifier(False)
        mine = PassManager(parse_pipeline(pipeline), context, verification=Verification.NEVER)
        for _ in range(pairs):
            expected, module = ir.Module.parse(text), ir.Module.parse(text)
            start = time.perf_counter()
            theirs.run(expected.operation)
            reference.append(time.perf_counter() - start)
            start = time.perf_counter()
            mine.run(module)
            ours.append(time.perf_counter() - start)
            if str(module) != str(expected):
                raise SystemExit(f"{layers} layers: the answers differ")
        ops = len(IndexedModule(module).in_order)
    ratios = [mine / theirs for mine, theirs in zip(ours, reference, strict=True)]
    return {
        "layers": layers,
        "ops": ops,
        "ours": statistics.median(ours),
        "reference": statistics.median(reference),
        "ratio": statistics.median(ratios),
    }


def is_compiled() -> bool:
    """Return whether the hot modules of the package are compiled."""
    import sdy.passes.propagation.engine as engine

    return not str(engine.__file__).endswith(".py")


def main() -> None:
    """Measure each number of layers and list of passes in a process of its own, print tables."""
    cli = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    cli.add_argument("--layers", type=int, nargs="+", default=[2, 8, 32, 96])
    cli.add_argument("--pairs", type=int, default=5)
    cli.add_argument("--child", default="", help=argparse.SUPPRESS)
    arguments = cli.parse_args()
    if arguments.child:
        row = measure(arguments.layers[0], PIPELINES[arguments.child], arguments.pairs)
        print(json.dumps(row))
        return
    print(f"sdy is {'compiled' if is_compiled() else 'plain Python'}")
    for name in PIPELINES:
        print(f"\n{name}\n{'layers':>6} {'ops':>7} {'ours':>9} {'reference':>10} {'ratio':>6}")
        for layers in arguments.layers:
            command = [sys.executable, "-m", "tests.benchmarks.propagation", "--child", name]
            command += ["--layers", str(layers), "--pairs", str(arguments.pairs)]
            child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            row = json.loads(child.stdout)
            print(
                f"{row['layers']:>6} {row['ops']:>7} {row['ours']:>8.3f}s "
                f"{row['reference']:>9.3f}s {row['ratio']:>6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

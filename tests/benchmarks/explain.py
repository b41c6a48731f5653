"""What an explanation costs, against plain propagation.

    python -m tests.benchmarks.explain [--layers 2 8 32 96] [--pairs 5]

A train step of so many unrolled layers is lowered by JAX, then propagated by `sdy.propagate`, and
by `sdy.explain`, which keeps a record of it: in turn, pair by pair, in one fresh process for each
number of layers. The record is to cost at most half as much again. What is worked out when it is
asked for is timed after that: the program as tables, and the whole document as JSON. Times are
those of the processor, which other processes on the machine change the least.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

MOST = 1.5


def measure(layers: int, pairs: int) -> dict[str, float]:
    """Time both in turn; return medians in seconds, and the ratio's."""
    import sdy
    from tests.corpus.jax_programs import train_step

    text = train_step(layers)
    plain: list[float] = []
    recorded: list[float] = []
    source = sdy.load(text)
    for _ in range(pairs):
        module = sdy.load(text)
        start = time.process_time()
        sdy.propagate(module)
        plain.append(time.process_time() - start)
        start = time.process_time()
        explanation = sdy.explain(source)
        recorded.append(time.process_time() - start)
    start = time.process_time()
    ops = len(explanation.ops)
    tables = time.process_time() - start
    start = time.process_time()
    megabytes = len(explanation.to_json()) / 1e6
    document = time.process_time() - start
    ratios = [mine / other for mine, other in zip(recorded, plain, strict=True)]
    return {
        "layers": layers,
        "ops": ops,
        "propagate": statistics.median(plain),
        "explain": statistics.median(recorded),
        "ratio": statistics.median(ratios),
        "tables": tables,
        "json": document,
        "megabytes": megabytes,
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
    print("layers    ops propagate  explain  ratio   tables     JSON")
    ratios = []
    for layers in arguments.layers:
        command = [sys.executable, "-m", "tests.benchmarks.explain", "--child"]
        command += ["--layers", str(layers), "--pairs", str(arguments.pairs)]
        child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        row = json.loads(child.stdout)
        ratios.append(row["ratio"])
        print(
            f"{row['layers']:>6} {row['ops']:>6} {row['propagate']:>8.3f}s {row['explain']:>7.3f}s "
            f"{row['ratio']:>6.2f} {row['tables']:>7.3f}s {row['json']:>7.3f}s "
            f"({row['megabytes']:.1f} MB)"
        )
    if max(ratios) > MOST:
        raise SystemExit(f"explain takes {max(ratios):.2f} times as long, at most {MOST} is meant")


if __name__ == "__main__":
    main()

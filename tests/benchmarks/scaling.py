"""How time and memory of propagation grow with the program, drawn for the docs.

    python -m tests.benchmarks.scaling [--layers 2 8 32 96 320 1400] [--plot docs/scaling.svg]

Each size is measured in a fresh process: a train step of so many unrolled layers is parsed, then
the passes of the propagation benchmark run on it. Memory is what the process has grown by from
before the passes to its peak. A mesh of 8 devices and one of 65,536 are measured, too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.propagation import PIPELINES

DEFAULT_LAYERS = (2, 8, 32, 96, 320, 1400)


def peak_memory() -> float:
    """Return the peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(path: str, devices: int) -> dict[str, float]:
    """Run the passes on a program in a file; return ops, seconds and MiB."""
    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.load import load
    from sdy.passes.pass_manager import PassManager, Verification
    from sdy.passes.pipeline import parse_pipeline

    text = Path(path).read_text(encoding="utf-8")
    module = load(text.replace('"data"=2', f'"data"={devices // 4}'))
    pipeline = parse_pipeline(f"builtin.module({PIPELINES['whole pipeline']})")
    manager = PassManager(pipeline, module.context, verification=Verification.NEVER)
    before = peak_memory()
    start = time.perf_counter()
    manager.run(module)
    seconds = time.perf_counter() - start
    ops = len(IndexedModule(module).in_order)
    return {"ops": ops, "seconds": seconds, "mebibytes": peak_memory() - before}


def lower(layers: int, path: Path) -> None:
    """Write the train step of so many layers to a file."""
    from tests.corpus.jax_programs import train_step

    path.write_text(train_step(layers), encoding="utf-8")


def in_child(*arguments: str) -> Any:
    """Run a part of this file in a process of its own; return what it prints as JSON."""
    command = [sys.executable, "-m", "tests.benchmarks.scaling", *arguments]
    child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(child.stdout)


def draw(rows: list[dict[str, float]], plot: Path) -> None:
    """Draw time and memory over the number of ops, both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for axes, (key, label) in zip(
        figure.subplots(1, 2), (("seconds", "time (s)"), ("mebibytes", "memory (MiB)")), strict=True
    ):
        ops = [row["ops"] for row in rows]
        axes.loglog(ops, [row[key] for row in rows], "o-", label="measured")
        per_op = rows[-1][key] / ops[-1]
        axes.loglog(ops, [per_op * count for count in ops], "--", label="linear")
        axes.set_xlabel("ops")
        axes.set_ylabel(label)
        axes.grid(visible=True, which="both", alpha=0.3)
        axes.legend()
    figure.savefig(plot, metadata={"Date": None})


def main() -> None:
    """Measure every size, print a table and draw it."""
    raw = argparse.RawTextHelpFormatter
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    cli.add_argument("--layers", type=int, nargs="+", default=list(DEFAULT_LAYERS))
    cli.add_argument("--plot", type=Path, default=Path("docs/scaling.svg"))
    cli.add_argument("--lower", type=Path, help=argparse.SUPPRESS)
    cli.add_argument("--measure", help=argparse.SUPPRESS)
    cli.add_argument("--devices", type=int, default=8, help=argparse.SUPPRESS)
    arguments = cli.parse_args()
    if arguments.lower:
        lower(arguments.layers[0], arguments.lower)
        print("null")
    elif arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.devices)))
    else:
        report(arguments.layers, arguments.plot)


def report(layers: list[int], plot: Path) -> None:
    """Measure every size in processes of their own, print a table and draw it."""
    import tempfile

    print(f"{'layers':>6} {'devices':>7} {'ops':>7} {'time':>9} {'us/op':>6} {'memory':>9}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step.mlir"
        for count in layers:
            in_child("--lower", str(path), "--layers", str(count))
            for devices in (8, 65536) if count == layers[len(layers) // 2] else (8,):
                row = in_child("--measure", str(path), "--devices", str(devices))
                print(
                    f"{count:>6} {devices:>7} {row['ops']:>7} {row['seconds']:>8.3f}s "
                    f"{1e6 * row['seconds'] / row['ops']:>6.1f} {row['mebibytes']:>6.0f}MiB",
                    flush=True,
                )
                if devices == 8:
                    rows.append(row)
    draw(rows, plot)


if __name__ == "__main__":
    main()

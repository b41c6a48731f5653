"""How long sdy-opt takes for a program of 20 lines, from start to end.

    python -m tests.benchmarks.startup [--runs 10]

Wall time, the least of the runs. It is to stay below 0.3 s on an idle machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OPS = 15
PROGRAM = "\n".join(
    [
        'sdy.mesh @mesh = <["x"=2]>',
        "func.func @main(",
        '    %0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {',
        *(f"  %{n} = stablehlo.tanh %{n - 1} : tensor<4xf32>" for n in range(1, OPS + 1)),
        f"  return %{OPS} : tensor<4xf32>",
        "}",
    ]
)


def wall_seconds(command: list[str]) -> float:
    """Run a command, and return how long it took."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure sdy-opt, and Python with no more than MLIR, in turn."""
    cli = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    cli.add_argument("--runs", type=int, default=10)
    runs = cli.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.mlir"
        source.write_text(PROGRAM, encoding="utf-8")
        ours = [sys.executable, "-m", "sdy.tools.sdy_opt", str(source)]
        bare = [sys.executable, "-c", "from jaxlib.mlir import ir"]
        pairs = [(wall_seconds(ours), wall_seconds(bare)) for _ in range(runs)]
    best, mlir = (min(times) for times in zip(*pairs, strict=True))
    lines = PROGRAM.count("\n") + 1
    print(f"sdy-opt on {lines} lines: {best:.3f}s; MLIR imported alone: {mlir:.3f}s")


if __name__ == "__main__":
    main()

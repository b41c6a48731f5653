"""The command as a whole: output, reproducer, help."""

from __future__ import annotations

import dataclasses
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

from sdy.passes.registry import get_pass, pass_names
from tests.unit.tools.command import ROOT, sdy_opt

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  %1 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


def test_output_is_a_fixed_point() -> None:
    once = sdy_opt(stdin=PROGRAM.encode())
    assert once.returncode == 0
    assert once.stderr == ""
    twice = sdy_opt(stdin=once.stdout.encode())
    assert twice.stdout == once.stdout


def test_passes_run_in_the_order_given() -> None:
    run = sdy_opt("--cse", "--dump-pass-pipeline", "-symbol-dce", stdin=PROGRAM.encode())
    assert "builtin.module(cse,symbol-dce)" in run.stderr
    assert run.stdout.count("stablehlo.add") == 1


def child_cpu_seconds(command: list[str]) -> float:
    """Return the CPU time of a command and of the children that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def test_a_small_program_takes_little_more_than_mlir(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(PROGRAM)

    # Importing jax takes three times what MLIR takes. CPU time, and the best of several, because
    # others compute on the machine at the same time.
    bare = [sys.executable, "-c", "from jaxlib.mlir import ir"]
    command = [sys.executable, "-m", "sdy.tools.sdy_opt", str(source)]
    pairs = [(child_cpu_seconds(command), child_cpu_seconds(bare)) for _ in range(5)]
    ours, mlir = (min(times) for times in zip(*pairs, strict=True))
    assert ours < 2 * mlir


def test_reproducer_of_a_failing_pass_reproduces_it(tmp_path: Path) -> None:
    reproducer = tmp_path / "reproducer.mlir"
    flag = f"--mlir-pass-pipeline-crash-reproducer={reproducer}"
    program = "func.func @f() { return }\nfunc.func @g() { return }"
    first = sdy_opt("--cse", "--stablehlo-refine-shapes", flag, stdin=program.encode())
    assert first.returncode == 1
    head, _, rest = reproducer.read_text().partition("\n")
    assert head == (
        "// configuration: --pass-pipeline='builtin.module(cse,stablehlo-refine-shapes)'"
    )
    assert "func.func @g" in rest
    again = sdy_opt(reproducer, head.removeprefix("// configuration: ").replace("'", ""))
    assert again.returncode == 1
    assert "no more than one function or a `main` function" in again.stderr


def test_reproducer_of_a_pass_that_kills_the_process(tmp_path: Path) -> None:
    source, reproducer = tmp_path / "in.mlir", tmp_path / "reproducer.mlir"
    source.write_text(PROGRAM)
    # The child that does the work imports MLIR; it may not be forked with it.
    script = (
        "import os, signal, sys\n"
        "from sdy.tools.sdy_opt import main\n"
        "def patch():\n"
        "    from sdy.passes.export_pipeline.close_shardings import CloseShardings\n"
        "    CloseShardings.run = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.register_at_fork(after_in_child=patch)\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    flag = f"--mlir-pass-pipeline-crash-reproducer={reproducer}"
    command = [sys.executable, "-c", script, str(source), "--cse", "--sdy-close-shardings", flag]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout == ""
    assert "in.mlir: error: MLIR was killed by SIGKILL" in run.stderr
    head, _, rest = reproducer.read_text().partition("\n")
    assert head == "// configuration: --pass-pipeline='builtin.module(cse,sdy-close-shardings)'"
    # The module is the one from before the first pass.
    assert rest.count("stablehlo.add") == 2


def test_no_reproducer_where_all_went_well(tmp_path: Path) -> None:
    reproducer = tmp_path / "reproducer.mlir"
    flag = f"--mlir-pass-pipeline-crash-reproducer={reproducer}"
    assert sdy_opt("--cse", flag, stdin=PROGRAM.encode()).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_output_to_something_that_is_no_file() -> None:
    assert sdy_opt("-o", "/dev/null", stdin=PROGRAM.encode()).returncode == 0


def test_help_describes_every_pass_and_option() -> None:
    run = sdy_opt("--help")
    assert run.returncode == 0
    for name in pass_names():
        cls = get_pass(name)
        assert f"  --{name}\n" in run.stdout
        assert cls.__doc__
        assert cls.__doc__.strip().splitlines()[0].strip() in run.stdout
        for option in dataclasses.fields(cls):
            assert f"      {option.name.replace('_', '-')} (default: " in run.stdout
            assert option.metadata["help"]


def test_list_passes_and_version() -> None:
    assert sdy_opt("--list-passes").stdout.split() == list(pass_names())
    assert "jaxlib 0." in sdy_opt("--version").stdout


def test_each_pass_has_the_name_that_it_is_listed_under() -> None:
    for name in pass_names():
        assert get_pass(name).name == name

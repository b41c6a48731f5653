"""Executables go to files and come back; what another version wrote is refused."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jaxlib
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from sdy.compile.compiler import compile as compile_program
from sdy.compile.compiler import load_executable
from sdy.compile.executable import Executable
from sdy.compile.targets import backend_for
from sdy.dialect.errors import Error
from tests.e2e.partitioned import MESH

ROOT = Path(__file__).resolve().parents[2]
X = np.arange(128, dtype=np.float32).reshape(8, 16)


def lower(function: Any) -> jax.stages.Lowered:
    argument = jax.ShapeDtypeStruct(
        X.shape, X.dtype, sharding=NamedSharding(MESH, P("data", "model"))
    )
    return jax.jit(function).trace({"x": argument}).lower(lowering_platforms=("cpu",))


@pytest.fixture(scope="module")
def executable() -> Executable:
    return compile_program(lower(lambda tree: [tree["x"].sum(), tree["x"] + 1]), "cpu:8")


@pytest.fixture
def path(executable: Executable, tmp_path: Path) -> Path:
    executable.save(tmp_path / "program")
    return tmp_path / "program"


def test_a_program_comes_back_as_it_was(executable: Executable, path: Path) -> None:
    loaded = load_executable(path)
    assert loaded.signature == executable.signature
    assert loaded.target == "cpu:8"
    assert loaded.collectives() == executable.collectives()
    total, more = loaded({"x": X})
    assert float(total) == X.sum()
    np.testing.assert_array_equal(more, X + 1)
    assert more.sharding.spec == P("data", "model")


def test_it_runs_on_other_devices_of_the_same_kind(path: Path) -> None:
    devices = backend_for("cpu:9").devices[:8]
    _, more = load_executable(path, devices)({"x": X})
    assert more.sharding.device_set == set(devices)


def test_another_number_of_devices_is_refused(path: Path) -> None:
    with pytest.raises(Error, match="was compiled for 8 devices: the target has 4"):
        load_executable(path, "cpu:4")


def test_another_version_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved_by = jaxlib.__version__
    monkeypatch.setattr(jaxlib, "__version__", "9.9.9")
    with pytest.raises(Error, match=f"was saved by jaxlib {saved_by}; this is jaxlib 9.9.9"):
        load_executable(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"cannot read '.*absent': No such file"):
        load_executable(tmp_path / "absent")
    (tmp_path / "text").write_text("module {}")
    with pytest.raises(Error, match="is no executable that this version of sdy saved"):
        load_executable(tmp_path / "text")


@pytest.mark.parametrize("length", [40, -1])
def test_a_file_that_was_cut_is_refused(path: Path, tmp_path: Path, length: int) -> None:
    (tmp_path / "cut").write_bytes(path.read_bytes()[:length])
    with pytest.raises(Error, match="is damaged"):
        load_executable(tmp_path / "cut")


def test_another_process_runs_it(path: Path) -> None:
    script = (
        "import sys, numpy as np, sdy\n"
        "total, more = sdy.load_executable(sys.argv[1])({'x': np.ones((8, 16), np.float32)})\n"
        "print(float(total), tuple(more.sharding.spec) == ('data', 'model'))\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.stdout == "128.0 True\n", child.stderr


class Pair(NamedTuple):
    first: Any
    second: Any


@jax.tree_util.register_dataclass
@dataclass
class Model:
    weights: Any
    name: Any = field(metadata={"static": True})


def test_containers_of_any_class_come_back(tmp_path: Path) -> None:
    def wrap(tree: dict[str, Any]) -> Any:
        x = tree["x"]
        return OrderedDict(
            z=Pair(x, [None, x + 1]), a=Model({"w": x}, "m"), b=defaultdict(int, n=x)
        )

    compile_program(lower(wrap), "cpu:8").save(tmp_path / "program")
    returned = load_executable(tmp_path / "program")({"x": X})
    assert jax.tree.structure(returned) == jax.tree.structure(wrap({"x": X}))
    assert list(returned) == ["z", "a", "b"]
    assert returned["a"].name == "m"
    np.testing.assert_array_equal(returned["z"].second[1], X + 1)


def test_containers_that_cannot_be_found_again_are_refused(tmp_path: Path) -> None:
    class Local(NamedTuple):
        x: Any

    program = compile_program(lower(lambda tree: Local(tree["x"])), "cpu:8")
    with pytest.raises(Error, match=r"Local cannot be imported by its name"):
        program.save(tmp_path / "program")
    assert not (tmp_path / "program").exists()


def test_containers_with_more_than_text_are_refused(tmp_path: Path) -> None:
    program = compile_program(lower(lambda tree: Model(tree["x"], frozenset())), "cpu:8")
    with pytest.raises(Error, match=r"it keeps frozenset\(\); expected text, numbers"):
        program.save(tmp_path / "program")

"""What the XLA in jaxlib makes of a module before, in and after its own Shardy.

XLA writes the modules to files. It reads the folder from its flags, once, so programs are compiled
in a process of their own: `python -m tests.differential.xla_dumps FOLDER`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["XlasModules", "dump_xlas_modules"]

ROOT = Path(__file__).parents[2]
TARGET = "cpu:8"


@dataclass(frozen=True, slots=True)
class XlasModules:
    """The texts of one program on its way through XLA.

    Attributes:
      read: as StableHLO, from HLO: what the round trip importer gets.
      imported: before propagation.
      propagated: all that the exporter gets, with no collectives of Shardy's own.
      exported: what the partitioner gets.

    """

    read: str
    imported: str
    propagated: str
    exported: str


def dump_xlas_modules(texts: Mapping[str, str], folder: Path) -> dict[str, XlasModules]:
    """Compile modules with XLA; return what it wrote of each, by name.

    Args:
      texts: of modules, by name.
      folder: is empty.

    """
    for name, text in texts.items():
        (folder / f"{name}.mlir").write_text(text)
    flags = f"--xla_dump_to={folder} --xla_dump_hlo_pass_re=shardy.*"
    environment = os.environ | {"XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "2"}
    command = [sys.executable, "-W", "ignore", "-m", __name__, str(folder)]
    child = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    return {name: _read(folder, name) for name in texts}


def _read(folder: Path, name: str) -> XlasModules:
    (written,) = folder.glob(f"shardy/module_*.{name}")
    text_of = {path.name.partition(".")[0]: path.read_text() for path in written.iterdir()}
    return XlasModules(*(text_of[number] for number in ("00", "01", "03", "04")))


def main() -> None:
    """Compile all modules in a folder."""
    from jax.errors import JaxRuntimeError
    from jaxlib import xla_client
    from jaxlib.mlir import ir

    from sdy.compile.build import xla_options
    from sdy.compile.targets import backend_for
    from sdy.ir.bytecode import to_bytecode
    from sdy.ir.load import load

    backend = backend_for(TARGET)
    options = xla_options(backend.devices)
    build = options.executable_build_options
    build.use_shardy_partitioner = True
    build.allow_spmd_sharding_propagation_to_parameters = [True]
    build.allow_spmd_sharding_propagation_to_output = [True]
    for path in Path(sys.argv[1]).glob("*.mlir"):
        module = load(path.read_text())
        module.operation.attributes["sym_name"] = ir.StringAttr.get(path.stem, module.context)
        devices = xla_client.DeviceList(backend.devices)
        # What XLA's Shardy made was written before XLA says that it does not know a custom call.
        with contextlib.suppress(JaxRuntimeError):
            backend.client.compile_and_load(to_bytecode(module), devices, options)


if __name__ == "__main__":
    main()

"""What sdy-opt does with one command line: reads, runs passes, and gives output or errors.

This part knows MLIR; it runs in the child process.
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sdy.dialect.errors import Error
from sdy.ir.bytecode import to_bytecode
from sdy.ir.context import make_context
from sdy.ir.diagnostics import Diagnostic, DiagnosticError, Source, collect_warnings, render
from sdy.ir.load import check_nesting, decode, is_bytecode, parse_bytes, parse_text, read_bytes
from sdy.passes.pass_manager import Instrument, PassManager, Verification
from sdy.passes.pass_pipeline import PassPipeline
from sdy.passes.pipeline import Pipeline, parse_pipeline, pass_steps
from sdy.passes.registry import UnknownPassError, get_pass, pass_names
from sdy.passes.upstream import check_exists
from sdy.tools.child_process import limited_reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from jaxlib.mlir import ir

    from sdy.tools.flags import Options
    from sdy.tools.instruments import Timing

__all__ = ["Session"]

# What the child's big stack holds, with room to spare.
_MAX_NESTING = 5000

_STANDARD_INPUT = "<stdin>"


@dataclass(frozen=True, slots=True)
class _Input:
    """A whole file, or a part of one that is split."""

    source: Source
    parse: Callable[[], ir.Module]
    guard: Callable[[], AbstractContextManager[None]] = nullcontext


class Session:
    """One run of sdy-opt."""

    def __init__(self, options: Options, output: str, reproducer: str | None) -> None:
        """Take the command line, and the files to write instead of those that it names.

        Args:
          options: the command line.
          output: where to write the output; `-` is standard output.
          reproducer: where to write the crash reproducer; None where it is not asked for.

        """
        self._options = options
        self._output = output
        self._reproducer = reproducer
        self._instruments: list[Instrument] = []
        self._timing: Timing | None = None
        self._add_instruments()

    def _add_instruments(self) -> None:
        if self._options.timing:
            from sdy.tools.instruments import Timing

            self._timing = Timing()
            self._instruments.append(self._timing)
        if self._options.prints_ir:
            from sdy.tools.instruments import IRPrinter, PrintWhen

            when = PrintWhen.from_options(self._options)
            self._instruments.append(IRPrinter(when, self._ir_text, _say))

    def run(self) -> int:
        """Do the work, say on standard error what is wrong, and return the exit status."""
        options = self._options
        self._context = make_context(allow_unregistered_dialects=options.allow_unregistered_dialect)
        try:
            self._pipeline = self._read_pipeline()
            self._manager = PassManager(
                self._pipeline,
                self._context,
                verification=Verification.EACH if options.verify_each else Verification.LAST,
                instruments=self._instruments,
            )
            self._check_printed_passes()
        except Error as error:
            _say(f"sdy-opt: error: {self._explain(error)}")
            return 1
        if options.dump_pass_pipeline:
            _say(f"Pass Manager with {len(self._pipeline.steps)} passes:\n{self._pipeline}\n")
        try:
            return self._run()
        except Error as error:
            _say(str(error))
            return 1
        finally:
            if self._timing is not None:
                _say(self._timing.report())

    def _read_pipeline(self) -> Pipeline:
        if self._options.pass_pipeline is not None:
            return parse_pipeline(self._options.pass_pipeline)
        passes = self._options.passes
        return Pipeline(tuple(step for name, text in passes for step in pass_steps(name, text)))

    def _check_printed_passes(self) -> None:
        """Raise an error where the module is to be printed at a pass that does not exist."""
        names = dict.fromkeys((*self._options.print_ir_before, *self._options.print_ir_after))
        for name in names:
            if name not in pass_names():
                check_exists(name, self._context)
            elif issubclass(get_pass(name), PassPipeline):
                raise Error(f"'{name}' is a pipeline: print the module at passes of it")

    def _explain(self, error: Error) -> str:
        """Return the text of an error in the pipeline: an unknown pass may be a flag misspelt."""
        if not isinstance(error, UnknownPassError) or self._options.pass_pipeline is not None:
            return str(error)
        from sdy.dialect.suggestion import did_you_mean
        from sdy.tools.flags import FLAGS

        hint = did_you_mean(f"--{error.name}", [flag.spelling for flag in FLAGS])
        return f"unknown flag or pass '--{error.name}'{hint}" if hint else str(error)

    def _run(self) -> int:
        outputs = [self._process(part) for part in self._inputs()]
        if None in outputs:
            return 1
        self._write([output for output in outputs if output])
        return 0

    def _inputs(self) -> list[_Input]:
        is_stdin = self._options.input == "-"
        name = _STANDARD_INPUT if is_stdin else self._options.input
        data = sys.stdin.buffer.read() if is_stdin else read_bytes(name)
        marker = self._options.split_input_file
        if marker is None or is_bytecode(data):
            return [self._whole(data, name)]
        from sdy.tools.split_input import split_input

        return [self._part(text, name) for text in split_input(decode(data, name), marker)]

    def _whole(self, data: bytes, name: str) -> _Input:
        is_file = self._options.input != "-"

        def parse() -> ir.Module:
            return parse_bytes(data, name, self._context, is_file=is_file, max_nesting=_MAX_NESTING)

        if is_bytecode(data):
            return _Input(Source(name), parse, lambda: limited_reading(len(data)))
        return _Input(Source(name, data.decode("utf-8", "replace")), parse)

    def _part(self, text: str, name: str) -> _Input:
        source = Source(name, text)

        def parse() -> ir.Module:
            check_nesting(text, source, _MAX_NESTING)
            return parse_text(text, source, self._context)

        return _Input(source, parse)

    def _process(self, part: _Input) -> bytes | None:
        """Return the output of one input, empty where it ended as expected; None on failure."""
        messages: list[Diagnostic] = []
        output = None
        with collect_warnings(messages.append):
            try:
                output = self._transform(part)
            except DiagnosticError as error:
                messages += error.diagnostics
            except Error as error:
                messages.append(Diagnostic("error", str(error)))
        if self._options.verify_diagnostics is None:
            for message in messages:
                _say(render(message, part.source))
            return output
        return (output or b"") if self._is_as_expected(messages, part.source) else None

    def _is_as_expected(self, messages: list[Diagnostic], source: Source) -> bool:
        from sdy.tools.expected_diagnostics import compare, read_expectations

        try:
            expectations = read_expectations(source.text or "")
        except DiagnosticError as error:
            faults = list(error.diagnostics)
        else:
            faults = list(
                compare(
                    expectations,
                    (each for message in messages for each in message.flatten()),
                    allow_others=self._options.verify_diagnostics == "only-expected",
                )
            )
        for fault in faults:
            _say(render(fault, source))
        return not faults

    def _transform(self, part: _Input) -> bytes:
        with self._phase("Parser"), part.guard():
            module = part.parse()
        if self._options.mark:
            from sdy.tools.mark_flag import apply_marks

            apply_marks(self._options.mark, module)
        if self._pipeline.steps:
            self._run_passes(module)
        with self._phase("Output"):
            return self._to_bytes(module)

    def _run_passes(self, module: ir.Module) -> None:
        """Run the passes; the reproducer stays where one of them fails, or kills the process."""
        reproducer = self._reproducer
        if reproducer is not None:
            text = module.operation.get_asm(enable_debug_info=True, binary=True)
            configuration = f"// configuration: --pass-pipeline='{self._pipeline}'\n"
            _write_file(reproducer, [configuration.encode(), cast("bytes", text)])
        self._manager.run(module)
        if reproducer is not None and os.path.isfile(reproducer):  # A device stays.
            os.unlink(reproducer)

    def _phase(self, name: str) -> AbstractContextManager[None]:
        return nullcontext() if self._timing is None else self._timing.phase(name)

    def _to_bytes(self, module: ir.Module) -> bytes:
        """Return a valid module as text or bytecode."""
        if self._options.emit_bytecode:
            return to_bytecode(module)
        return self._asm(module, is_valid=True)

    def _ir_text(self, module: ir.Module) -> str:
        """Return the text of a module that a pass may have left invalid."""
        return self._asm(module, is_valid=False).decode("utf-8", "backslashreplace")

    def _asm(self, module: ir.Module, *, is_valid: bool) -> bytes:
        options = self._options
        text = module.operation.get_asm(
            binary=True,
            large_elements_limit=options.elide_elementsattrs_if_larger,
            enable_debug_info=options.print_debuginfo,
            print_generic_op_form=options.print_op_generic,
            use_local_scope=options.print_local_scope,
            assume_verified=is_valid,
        )
        return cast("bytes", text)

    def _write(self, outputs: list[bytes]) -> None:
        if self._options.emit_bytecode and len(outputs) > 1:
            raise Error("sdy-opt: error: bytecode of several inputs cannot be in one file")
        separated = b"\n// -----\n".join(outputs)
        if self._output == "-":
            _write_to_standard_output(separated)
        else:
            _write_file(self._output, [separated])


def _write_to_standard_output(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = f"cannot write to standard output: {error.strerror}"
        raise Error(f"sdy-opt: error: {reason}") from None


def _write_file(path: str, parts: list[bytes]) -> None:
    try:
        with open(path, "wb") as file:
            file.writelines(parts)
    except OSError as error:
        raise Error(f"{path}: error: cannot write: {error.strerror}") from None


def _say(text: str) -> None:
    """Write a message to standard error; what cannot be encoded there is escaped."""
    data = (text + "\n").encode("utf-8", "backslashreplace")
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()

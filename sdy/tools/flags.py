"""The command line of sdy-opt, as mlir-opt has it: flags with one dash or two, passes in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sdy.dialect.errors import Error, ParseError

if TYPE_CHECKING:
    from sdy.tools.mark_flag import Mark

__all__ = ["FLAGS", "Flag", "Options", "parse_arguments"]

Kind = Literal["switch", "value", "number", "list", "repeated", "optional"]


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag that is not a pass.

    Attributes:
      name: without dashes.
      kind: `switch` takes true or false or nothing, `value`, `number` and `list` (by commas) need
        a value, behind `=` or as the next argument; `optional` may have one behind `=`;
        the values of all `repeated` flags of one name are collected.
      help: what it does.
      metavar: what stands for the value in the help.

    """

    name: str
    kind: Kind
    help: str
    metavar: str = ""

    @property
    def spelling(self) -> str:
        """The flag with its dashes."""
        return ("-" if len(self.name) == 1 else "--") + self.name

    @property
    def field(self) -> str:
        """The field of `Options` that it sets."""
        return self.name.removeprefix("mlir-").replace("-", "_")


FLAGS = (
    Flag("o", "value", "Write the output to FILE; `-`, the default, is standard output.", "FILE"),
    Flag("pass-pipeline", "value", "Run the passes of a textual pipeline.", "TEXT"),
    Flag(
        "split-input-file",
        "optional",
        "Treat the parts of the input between lines `// -----` (or MARKER) as files of their own.",
        "MARKER",
    ),
    Flag(
        "verify-diagnostics",
        "optional",
        "Compare what is said of the input with its `expected-error`, `-warning`, `-note` and "
        "`-remark` comments. LEVEL is `all` or `only-expected`, which allows others.",
        "LEVEL",
    ),
    Flag(
        "mark",
        "repeated",
        "Before the passes, mark a value with a sharding, as sdy.mark_sharding does: "
        "`@main:arg0=data,None,model`, `@main:%0=(data,fsdp),None`, `@main:result0=@mesh:0,None`. "
        "An entry for each dimension: None, an axis or its index, or a tuple of them. May be "
        "given more than once.",
        "MARK",
    ),
    Flag("verify-each", "switch", "Verify the module after each pass, not only the last.", "BOOL"),
    Flag("allow-unregistered-dialect", "switch", "Accept ops of unknown dialects."),
    Flag("mlir-print-ir-before-all", "switch", "Print the module before each pass."),
    Flag("mlir-print-ir-after-all", "switch", "Print the module after each pass."),
    Flag("mlir-print-ir-before", "list", "Print the module before these passes.", "PASS,..."),
    Flag("mlir-print-ir-after", "list", "Print the module after these passes.", "PASS,..."),
    Flag(
        "mlir-print-ir-after-change",
        "switch",
        "Print the module after a pass only where the pass has changed it.",
    ),
    Flag("mlir-print-ir-after-failure", "switch", "Print the module after a pass that fails."),
    Flag("mlir-print-debuginfo", "switch", "Print locations."),
    Flag("mlir-print-op-generic", "switch", "Print ops in their generic form."),
    Flag("mlir-print-local-scope", "switch", "Print attributes, types and locations in line."),
    Flag(
        "mlir-elide-elementsattrs-if-larger",
        "number",
        "Elide constants with more than N elements.",
        "N",
    ),
    Flag("mlir-timing", "switch", "Report the time of each pass."),
    Flag(
        "mlir-pass-pipeline-crash-reproducer",
        "value",
        "Where a pass fails or crashes, write the module from before the passes to FILE.",
        "FILE",
    ),
    Flag("mlir-disable-threading", "switch", "Accepted for mlir-opt's sake: nothing is threaded."),
    Flag("dump-pass-pipeline", "switch", "Print the pipeline with all options before it runs."),
    Flag("emit-bytecode", "switch", "Write MLIR bytecode."),
    Flag("list-passes", "switch", "Print the names of the passes and exit."),
    Flag("help", "switch", "Print this and exit."),
    Flag("version", "switch", "Print the versions of sdy and its MLIR and exit."),
)

_BY_NAME = {flag.name: flag for flag in FLAGS} | {"h": next(f for f in FLAGS if f.name == "help")}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_LEVELS = ("all", "only-expected")
_DEFAULT_MARKER = "// -----"
_FILE = "FILE"


@dataclass(slots=True)
class Options:
    """The flags of one command line; each field is a flag of that name, `mlir-` left out.

    Attributes:
      input: the file to read; `-` is standard input.
      passes: name and option text of each pass, in order.

    """

    input: str = "-"
    passes: list[tuple[str, str]] = field(default_factory=list)
    o: str = "-"
    pass_pipeline: str | None = None
    split_input_file: str | None = None
    verify_diagnostics: str | None = None
    mark: tuple[Mark, ...] = ()
    verify_each: bool = True
    allow_unregistered_dialect: bool = False
    print_ir_before_all: bool = False
    print_ir_after_all: bool = False
    print_ir_before: tuple[str, ...] = ()
    print_ir_after: tuple[str, ...] = ()
    print_ir_after_change: bool = False
    print_ir_after_failure: bool = False
    print_debuginfo: bool = False
    print_op_generic: bool = False
    print_local_scope: bool = False
    elide_elementsattrs_if_larger: int | None = None
    timing: bool = False
    pass_pipeline_crash_reproducer: str | None = None
    disable_threading: bool = False
    dump_pass_pipeline: bool = False
    emit_bytecode: bool = False
    list_passes: bool = False
    help: bool = False
    version: bool = False

    @property
    def asks_about_command(self) -> bool:
        """Whether the command is to say something of itself, and no more."""
        return self.help or self.version or self.list_passes

    @property
    def prints_ir(self) -> bool:
        """Whether the module is to be printed between passes."""
        return bool(
            self.print_ir_before_all
            or self.print_ir_after_all
            or self.print_ir_before
            or self.print_ir_after
            or self.print_ir_after_change
            or self.print_ir_after_failure
        )


def parse_arguments(arguments: list[str]) -> Options:
    """Return the options; `sdy.Error` where a flag's value is missing or wrong.

    A flag that is not in `FLAGS` is a pass. Whether there is such a pass is asked later.
    """
    options = Options()
    files: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            files += rest
            break
        if argument == "-" or not argument.startswith("-"):
            if not argument:
                raise Error("expected an input file, got ''")
            files.append(argument)
            continue
        name, equals, value = argument.lstrip("-").partition("=")
        flag = _BY_NAME.get(name)
        if flag is None:
            _check_utf8(argument)
            options.passes.append((name, value))
        else:
            given = _value(flag, value if equals else None, rest)
            if flag.kind == "repeated":
                options.mark += (_mark(str(given)),)
            else:
                setattr(options, flag.field, given)
    if len(files) > 1:
        raise Error(f"expected one input file, got {', '.join(map(repr, files))}")
    options.input = files[0] if files else "-"
    _check(options)
    return options


def _mark(text: str) -> Mark:
    from sdy.tools.mark_flag import parse_mark

    try:
        return parse_mark(text)
    except ParseError as error:
        raise Error(f"flag '--mark':{error}") from None


def _check(options: Options) -> None:
    if options.passes and options.pass_pipeline is not None:
        raise Error("--pass-pipeline and passes of their own cannot be used together")
    level = options.verify_diagnostics
    if level is not None and level not in _LEVELS:
        raise Error(f"flag '--verify-diagnostics': expected all or only-expected, got '{level}'")


def _value(flag: Flag, value: str | None, rest: list[str]) -> bool | int | str | tuple[str, ...]:
    """Return the value of a flag, taken from the arguments that follow where it needs one."""
    if flag.kind == "optional":
        default = _LEVELS[0] if flag.name == "verify-diagnostics" else _DEFAULT_MARKER
        return value or default
    if flag.kind == "switch":
        known = True if value is None else _BOOLEANS.get(value.lower())
        if known is None:
            raise Error(f"flag '{flag.spelling}': expected true or false, got '{value}'")
        return known
    if value is None:
        if not rest:
            raise Error(f"flag '{flag.spelling}': expected {flag.metavar}")
        value = rest.pop(0)
    if flag.metavar != _FILE:
        _check_utf8(value)
    elif not value:
        raise Error(f"flag '{flag.spelling}': expected {_FILE}, got ''")
    if flag.kind == "list":
        return tuple(value.split(","))
    return _number(flag, value) if flag.kind == "number" else value


def _check_utf8(text: str) -> None:
    """Raise an error for text with bytes that are not; Python keeps them as surrogates."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise Error(f"expected UTF-8, got {text!a}")


def _number(flag: Flag, value: str) -> int:
    # MLIR keeps it in 64 bits, with a sign.
    if not (value.isascii() and value.isdecimal() and len(value) < 20 and int(value) < 1 << 63):
        raise Error(f"flag '{flag.spelling}': expected a number below 2**63, got '{value}'")
    return int(value)

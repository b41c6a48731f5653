"""The command line, read."""

from __future__ import annotations

import pytest

from sdy.dialect.errors import Error
from sdy.tools.flags import FLAGS, Options, parse_arguments


def test_one_dash_is_as_good_as_two() -> None:
    assert parse_arguments(["-split-input-file", "-cse"]) == parse_arguments(
        ["--split-input-file", "--cse"]
    )


def test_a_value_may_be_the_next_argument() -> None:
    for arguments in (["-o", "x"], ["-o=x"], ["--o=x"]):
        assert parse_arguments(arguments).o == "x"
    assert parse_arguments(["--mlir-print-ir-after", "cse,inline"]).print_ir_after == (
        "cse",
        "inline",
    )


def test_passes_keep_their_order_and_options() -> None:
    options = parse_arguments(["--cse", "in.mlir", "--sdy-x=a=1 b={c d}", "-cse"])
    assert options.passes == [("cse", ""), ("sdy-x", "a=1 b={c d}"), ("cse", "")]
    assert options.input == "in.mlir"


def test_what_follows_two_dashes_is_a_file() -> None:
    assert parse_arguments(["--", "-odd-name"]).input == "-odd-name"
    assert parse_arguments(["in.mlir", "--"]).input == "in.mlir"


def test_switches_take_values() -> None:
    assert parse_arguments([]).verify_each
    assert not parse_arguments(["--verify-each=false"]).verify_each
    assert not parse_arguments(["--verify-each=0"]).verify_each
    with pytest.raises(Error, match="expected true or false"):
        parse_arguments(["--verify-each=maybe"])


def test_optional_values_have_defaults() -> None:
    assert parse_arguments(["--split-input-file"]).split_input_file == "// -----"
    assert parse_arguments(["--split-input-file=// ==="]).split_input_file == "// ==="
    assert parse_arguments(["--verify-diagnostics"]).verify_diagnostics == "all"


def test_every_flag_sets_a_field() -> None:
    assert {flag.field for flag in FLAGS} <= set(Options.__dataclass_fields__)

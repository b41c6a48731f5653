"""Tuples, which HLO needs and StableHLO does not, become many values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.hlo_sharding import HloSharding
from sdy.ir.data_flow import region_terminator
from sdy.ir.op_names import FUNCTION, RETURN
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.ir.symbols import symbol_name
from sdy.ir.values import signature
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.unused_ops import erase_unused
from sdy.passes.gspmd.xla_names import CUSTOM_CALL, GET_TUPLE_ELEMENT, HLO_SHARDING, TUPLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["FlattenTuples"]


@dataclass(frozen=True, slots=True)
class FlattenTuples(Pass):
    """Replaces tuples by what they are made of.

    Arguments and results of the entry function, and of custom calls, that are tuples become one
    for each leaf, each with its part of an `mhlo.sharding`.
    """

    name: ClassVar[str] = "sdy-flatten-tuples"
    anchor: ClassVar[str] = FUNCTION

    entry_function_name: str = option("main", "The function whose arguments are flattened.")

    def run(self, module: IndexedModule) -> None:
        """Flatten tuples in place."""
        has_changed = False
        for function in module.ops(FUNCTION):
            if symbol_name(function) == self.entry_function_name:
                has_changed |= _flatten_signature(function)
        for op in module.ops(CUSTOM_CALL):
            has_changed |= _flatten_call(op)
        if has_changed:
            module.ops_changed()
        if _forward_elements(module):
            module.ops_changed()


def _leaf_types(type_: ir.Type) -> list[ir.Type]:
    if not isinstance(type_, ir.TupleType):
        return [type_]
    of_elements = [type_.get_type(i) for i in range(type_.num_types)]
    return [leaf for element in of_elements for leaf in _leaf_types(element)]


def _leaf_values(value: ir.Value, place: ir.InsertionPoint) -> list[ir.Value]:
    """Return the leaves of a value, taken out of it at a place."""
    type_ = value.type
    if not isinstance(type_, ir.TupleType):
        return [value]
    integer = ir.IntegerType.get_signless(32, type_.context)
    leaves: list[ir.Value] = []
    for i in range(type_.num_types):
        element = ir.Operation.create(
            GET_TUPLE_ELEMENT,
            results=[type_.get_type(i)],
            operands=[value],
            attributes={"index": ir.IntegerAttr.get(integer, i)},
            loc=value.location,
            ip=place,
        )
        leaves += _leaf_values(element.results[0], place)
    return leaves


def _tuple_of(
    leaves: Iterator[ir.Value], type_: ir.Type, place: ir.InsertionPoint, location: ir.Location
) -> ir.Value:
    """Return a value of that type with the next of some leaves."""
    if not isinstance(type_, ir.TupleType):
        return next(leaves)
    elements = [
        _tuple_of(leaves, type_.get_type(i), place, location) for i in range(type_.num_types)
    ]
    return ir.Operation.create(
        TUPLE, results=[type_], operands=elements, loc=location, ip=place
    ).results[0]


def _flatten_signature(function: ir.Operation) -> bool:
    kind = signature(function)
    inputs = [leaf for type_ in kind.inputs for leaf in _leaf_types(type_)]
    results = [leaf for type_ in kind.results for leaf in _leaf_types(type_)]
    if inputs == kind.inputs and results == kind.results:
        return False
    arguments = _flat_entries(signature_entries(function, "arg_attrs"), kind.inputs)
    returned = _flat_entries(signature_entries(function, "res_attrs"), kind.results)
    block = function.regions[0].blocks[0]
    start = ir.InsertionPoint.at_block_begin(block)
    for argument in list(block.arguments):
        leaves = [
            block.add_argument(leaf, argument.location) for leaf in _leaf_types(argument.type)
        ]
        new = _tuple_of(iter(leaves), argument.type, start, argument.location)
        argument.replace_all_uses_with(new)
    for _ in kind.inputs:
        block.erase_argument(0)
    terminator = region_terminator(function.regions[0])
    place = ir.InsertionPoint(terminator)
    leaves = [leaf for operand in terminator.operands for leaf in _leaf_values(operand, place)]
    ir.Operation.create(RETURN, operands=leaves, loc=terminator.location, ip=place)
    terminator.erase()
    flat = ir.FunctionType.get(inputs, results, function.context)
    function.attributes["function_type"] = ir.TypeAttr.get(flat, function.context)
    set_signature_entries(function, "arg_attrs", arguments)
    set_signature_entries(function, "res_attrs", returned)
    return True


def _flat_entries(entries: Sequence[ir.DictAttr], types: Sequence[ir.Type]) -> list[ir.DictAttr]:
    """Return the attributes of the leaves: of a tuple's, only its sharding is theirs."""
    flat: list[ir.DictAttr] = []
    for entry, type_ in zip(entries, types, strict=True):
        if not isinstance(type_, ir.TupleType):
            flat.append(entry)
            continue
        count = len(_leaf_types(type_))
        sharding = named_attributes(entry).get(HLO_SHARDING)
        leaves = () if sharding is None else _leaf_shardings(sharding)
        flat += [
            ir.DictAttr.get({HLO_SHARDING: leaf} if leaf else {}, context=entry.context)
            for leaf in (leaves if len(leaves) == count else [None] * count)
        ]
    return flat


def _leaf_shardings(sharding: ir.Attribute) -> list[ir.Attribute]:
    leaves = HloSharding.parse(ir.StringAttr(sharding).value).leaves()
    return [ir.StringAttr.get(str(leaf), sharding.context) for leaf in leaves]


def _flatten_call(op: ir.Operation) -> bool:
    results = [result.type for result in op.results]
    # HLO's ops have one result: with more, the call was not made from one.
    flat = _leaf_types(results[0]) if len(results) == 1 else results
    operands = [operand.type for operand in op.operands]
    if flat == results and not any(isinstance(type_, ir.TupleType) for type_ in operands):
        return False
    place = ir.InsertionPoint(op)
    call = ir.Operation.create(
        CUSTOM_CALL,
        results=flat,
        operands=[leaf for operand in op.operands for leaf in _leaf_values(operand, place)],
        attributes=dict(op.attributes.items()),
        loc=op.location,
        ip=place,
    )
    leaves = iter(list(call.results))
    for old in op.results:
        old.replace_all_uses_with(_tuple_of(leaves, old.type, place, op.location))
    op.erase()
    return True


def _forward_elements(module: IndexedModule) -> bool:
    """Use what a tuple is made of in place of its elements; erase tuples that nothing uses."""
    elements = module.ops(GET_TUPLE_ELEMENT)
    tuples = module.ops(TUPLE)
    has_changed = False
    for op in elements:
        source = op.operands[0]
        is_made_here = not isinstance(source, ir.BlockArgument)
        if is_made_here and source.owner.operation.name == TUPLE:
            index = ir.IntegerAttr(op.attributes["index"]).value
            op.results[0].replace_all_uses_with(source.owner.operation.operands[index])
    has_changed |= erase_unused(elements)
    has_changed |= erase_unused(tuples)
    return has_changed

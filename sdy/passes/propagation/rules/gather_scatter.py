"""Gather and scatter: slices of a tensor, at places that a tensor of indices says.

Seen from the rule the two are one: a gather reads the slices from its operand, a scatter writes
the slices (its updates) into its inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from sdy.dialect.factor_type import NEED_REPLICATION, PASS_THROUGH, REDUCTION, FactorType
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.rules.reading import Shape


class _Slicing:
    """What a gather and a scatter have in common.

    Attributes:
      builder: the builder of the rule.
      inputs: how many tensors a scatter writes; 1 for a gather.
      is_scatter: whether the slices are operands, as many as inputs, and not the result.
      source: the shape of the tensor that is read or written.
      indices: the shape of the tensor of places.
      slices: the shape of the tensor of slices.
      offset_dims: the dimensions of `slices` inside a slice.
      collapsed_dims: the dimensions of `source` that slices lack, as they have size 1 there.
      source_batching_dims: the dimensions of `source` that go along with dimensions of `indices`.
      indices_batching_dims: those dimensions of `indices`, in the same order.
      index_vector_dim: the dimension of `indices` along which a place is written; its rank if
        a place is one number.

    """

    def __init__(
        self,
        builder: RuleBuilder,
        *,
        inputs: int,
        is_scatter: bool,
        source: Shape,
        indices: Shape,
        slices: Shape,
        offset_dims: list[int],
        collapsed_dims: list[int],
        source_batching_dims: list[int],
        indices_batching_dims: list[int],
        index_vector_dim: int,
    ) -> None:
        self.builder = builder
        self.inputs = inputs
        self.is_scatter = is_scatter
        self.source = source
        self.indices = indices
        self.slices = slices
        self.offset_dims = offset_dims
        self.collapsed_dims = collapsed_dims
        self.source_batching_dims = source_batching_dims
        self.indices_batching_dims = indices_batching_dims
        self.index_vector_dim = index_vector_dim

    def dims_of_slices(self) -> list[tuple[int, int | None, int | None]]:
        """Return each dimension of `slices`, with the ones of `source` and of `indices` like it."""
        no_offset = self.collapsed_dims + self.source_batching_dims
        source_dims = [dim for dim in range(len(self.source)) if dim not in no_offset]
        indices_dims = [dim for dim in range(len(self.indices)) if dim != self.index_vector_dim]
        batching = dict(zip(self.indices_batching_dims, self.source_batching_dims, strict=True))
        dims: list[tuple[int, int | None, int | None]] = []
        offset_count = 0
        for dim in range(len(self.slices)):
            if dim in self.offset_dims:
                dims.append((dim, source_dims[offset_count], None))
                offset_count += 1
            else:
                indices_dim = indices_dims[dim - offset_count]
                dims.append((dim, batching.get(indices_dim), indices_dim))
        return dims

    def add(
        self,
        size: int,
        factor_type: FactorType = PASS_THROUGH,
        *,
        source: int | None = None,
        indices: int | None = None,
        slices: int | None = None,
        blocked: bool = False,
    ) -> None:
        """Add a factor to a dimension each of the source, the indices and the slices."""
        inputs = self.inputs
        operands = [source] * inputs
        operands.append(indices)
        if self.is_scatter:
            operands += [slices] * inputs
        self.builder.factor(
            operands=operands,
            results=[source if self.is_scatter else slices] * inputs,
            size=size,
            factor_type=factor_type,
            blocked=blocked,
        )

    def add_index_vector_factor(self) -> None:
        """Add the factor of the dimension along which a place is written, if there is one."""
        dim = self.index_vector_dim
        if dim < len(self.indices):
            self.add(self.indices[dim], NEED_REPLICATION, indices=dim)


@rule("stablehlo.gather", reads=("dimension_numbers",))
def _gather(op: ir.Operation) -> OpShardingRule:
    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    builder = RuleBuilder.of(op)
    source, indices = builder.operands
    slicing = _Slicing(
        builder,
        inputs=1,
        is_scatter=False,
        source=source,
        indices=indices,
        slices=builder.results[0],
        offset_dims=numbers.offset_dims,
        collapsed_dims=numbers.collapsed_slice_dims,
        source_batching_dims=numbers.operand_batching_dims,
        indices_batching_dims=numbers.start_indices_batching_dims,
        index_vector_dim=numbers.index_vector_dim,
    )
    for dim, source_dim, indices_dim in slicing.dims_of_slices():
        if indices_dim is not None:
            slicing.add(slicing.slices[dim], source=source_dim, indices=indices_dim, slices=dim)
        elif source_dim is not None:
            _add_gathered_dim(slicing, source_dim, dim)
    for dim in slicing.collapsed_dims:
        # Where the dimension is sharded, each device looks up in what it has, and the results
        # are summed.
        size = slicing.source[dim]
        factor_type = NEED_REPLICATION if size == 1 else REDUCTION
        slicing.add(size, factor_type, source=dim)
    slicing.add_index_vector_factor()
    return slicing.builder.build()


def _add_gathered_dim(slicing: _Slicing, source_dim: int, dim: int) -> None:
    """Add the factors of a dimension of the operand that is, whole or cut, in the slices."""
    source_size, size = slicing.source[source_dim], slicing.slices[dim]
    if source_size == size:
        slicing.add(size, source=source_dim, slices=dim)
    elif size == 1:
        slicing.add(source_size, REDUCTION, source=source_dim)
        slicing.add(size, NEED_REPLICATION, slices=dim)
    else:
        slicing.add(
            source_size,
            NEED_REPLICATION,
            source=source_dim,
            slices=dim,
            blocked=True,
        )


_REDUCERS = frozenset(
    {"stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum"}
)
_LOGICAL_REDUCERS = frozenset({"stablehlo.and", "stablehlo.or"})


def _is_reducing(op: ir.Operation) -> bool:
    """Return whether a scatter combines all its inputs and updates with one known reducer."""
    if not op.regions[0].blocks:
        return False
    block = op.regions[0].blocks[0]
    inputs = len(op.results)
    returned = list(block.operations[len(block.operations) - 1].operands)
    if len(block.arguments) != 2 * inputs or len(returned) != inputs:
        return False
    names = {
        _reducer(value, {block.arguments[i], block.arguments[i + inputs]})
        for i, value in enumerate(returned)
    }
    return len(names) == 1 and None not in names


def _reducer(value: ir.Value, combined: set[ir.Value]) -> str | None:
    """Return the name of the op that makes `value` of the two values `combined`, if it reduces."""
    if not isinstance(value, ir.OpResult) or not isinstance(value.type, ir.RankedTensorType):
        return None
    producer = value.owner.operation
    if len(producer.operands) != 2 or set(producer.operands) != combined:
        return None
    is_logical = str(value.type.element_type) == "i1" and producer.name in _LOGICAL_REDUCERS
    return str(producer.name) if is_logical or producer.name in _REDUCERS else None


@rule("stablehlo.scatter", reads=("scatter_dimension_numbers",), beyond=_is_reducing)
def _scatter(op: ir.Operation) -> OpShardingRule:
    """Map inputs of one shape, the indices, and as many updates of one shape."""
    numbers = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    builder = RuleBuilder.of(op)
    inputs = len(builder.results)
    slicing = _Slicing(
        builder,
        inputs=inputs,
        is_scatter=True,
        source=builder.operands[0],
        indices=builder.operands[inputs],
        slices=builder.operands[inputs + 1],
        offset_dims=numbers.update_window_dims,
        collapsed_dims=numbers.inserted_window_dims,
        source_batching_dims=numbers.input_batching_dims,
        indices_batching_dims=numbers.scatter_indices_batching_dims,
        index_vector_dim=numbers.index_vector_dim,
    )
    place_type = REDUCTION if _is_reducing(op) else NEED_REPLICATION
    for dim, source_dim, indices_dim in slicing.dims_of_slices():
        size = slicing.slices[dim]
        if indices_dim is not None:
            factor_type = place_type if source_dim is None else PASS_THROUGH
            slicing.add(size, factor_type, source=source_dim, indices=indices_dim, slices=dim)
        elif source_dim is not None:
            _add_scattered_dim(slicing, source_dim, dim)
    for dim in slicing.collapsed_dims:
        slicing.add(slicing.source[dim], source=dim)
    slicing.add_index_vector_factor()
    return slicing.builder.build()


def _add_scattered_dim(slicing: _Slicing, source_dim: int, dim: int) -> None:
    """Add the factors of a dimension of the inputs that is, whole or cut, in the updates."""
    source_size, size = slicing.source[source_dim], slicing.slices[dim]
    if source_size == size:
        slicing.add(size, source=source_dim, slices=dim)
    else:
        slicing.add(source_size, NEED_REPLICATION, source=source_dim)
        slicing.add(size, NEED_REPLICATION, slices=dim)

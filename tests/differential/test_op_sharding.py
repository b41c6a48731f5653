"""Our text and protocol buffer of an HloSharding against XLA's own, on random shardings."""

from __future__ import annotations

from random import Random

from jaxlib import xla_client

from sdy.compile.op_sharding import (
    from_op_sharding,
    from_xla_sharding,
    to_op_sharding,
    to_xla_sharding,
)
from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import VerifyError
from sdy.dialect.hlo_metadata import OpMetadata, ShardGroup, ShardGroupKind
from sdy.dialect.hlo_proto import decode_hlo_sharding, encode_hlo_sharding
from sdy.dialect.hlo_sharding import HloSharding, HloShardingKind
from tests.differential import xla_hlo_shardings as xla
from tests.differential.test_hlo_sharding import random_sharding, random_text

SAMPLES = 3000
WORDS = ["", "jit(f)/dot", 'a "b"', "c\\d\n", "é", "'"]


def random_metadata(random: Random) -> OpMetadata:
    lines = random.choices([0, 1, 300], k=4)
    return OpMetadata(
        op_type=random.choice(WORDS),
        op_name=random.choice(WORDS),
        source_file=random.choice(WORDS),
        source_line=lines[0],
        source_end_line=lines[1],
        source_column=lines[2],
        source_end_column=lines[3],
        profile_type=tuple(random.choices([1, 2], k=random.randint(0, 2))),
        # XLA does not escape these two.
        deduplicated_name=random.choice(["", "dot.1"]),
        scheduling_name=random.choice(["", "dot.2"]),
        stack_frame_id=random.choice([0, 7]),
    )


def random_plain(random: Random) -> HloSharding:
    """Return a sharding in tiles or a simple one."""
    simple = random.choice(["{replicated}", "{manual}", "{unreduced}", "{unknown}"])
    maximal = f"{{maximal device={random.randint(-1, 200)}}}"
    tiled = random_text(random)[0]
    return HloSharding.parse(random.choice([simple, maximal, tiled, tiled, tiled]))


def random_named(random: Random) -> HloSharding:
    while True:
        sharding, manual = random_sharding(random)
        axes = [AxisRef(name) for name in manual]
        try:
            return HloSharding.of_names(sharding.canonical(), axes)
        except VerifyError:
            continue


def random_leaf(random: Random, *, has_metadata: bool = True) -> HloSharding:
    is_named = random.random() < 0.4
    leaf = random_named(random) if is_named else random_plain(random)
    kind = random.choice([ShardGroupKind.AS, ShardGroupKind.LIKE])
    in_group = random.random() < 0.4 and not is_named
    group = ShardGroup(kind, random.choice([0, 3, 500])) if in_group else None
    count = random.choice([0, 0, 1, 2]) if has_metadata else 0
    return leaf.with_suffixes(group, (random_metadata(random) for _ in range(count)))


def random_any(random: Random, *, has_metadata: bool = True) -> HloSharding:
    if random.random() < 0.8:
        return random_leaf(random, has_metadata=has_metadata)
    return HloSharding.tuple_of(
        random_leaf(random, has_metadata=has_metadata) for _ in range(random.randint(0, 7))
    )


def is_for_vectors(leaf: HloSharding) -> bool:
    if leaf.named is not None:
        return leaf.named.sharding.rank == 1
    return not leaf.is_tiled or len(leaf.data_dims) == 1


def with_all_metadata(sharding: HloSharding) -> list[tuple[OpMetadata, ...]]:
    return [leaf.metadata for leaf in sharding.leaves()]


def test_the_protocol_buffer_is_xlas() -> None:
    random = Random(3)
    ours = [random_any(random) for _ in range(SAMPLES)]
    for sharding, expected in zip(ours, xla.protocol_buffers(list(map(str, ours))), strict=True):
        assert encode_hlo_sharding(sharding) == expected, str(sharding)
        decoded = decode_hlo_sharding(expected)
        assert decoded == sharding
        assert with_all_metadata(decoded) == with_all_metadata(sharding)


def test_text_with_metadata_is_xlas() -> None:
    random = Random(4)
    ours = [leaf for leaf in map(random_leaf, [random] * SAMPLES) if is_for_vectors(leaf)]
    assert len(ours) > 1000
    for sharding, expected in zip(ours, xla.texts_in_modules(list(map(str, ours))), strict=True):
        assert str(sharding) == expected
        assert HloSharding.parse(expected).metadata == sharding.metadata


def test_text_without_metadata_is_xlas_and_is_read_as_it_was_printed() -> None:
    random = Random(5)
    for _ in range(SAMPLES):
        sharding = random_any(random, has_metadata=False)
        assert HloSharding.parse(str(sharding)) == sharding
        assert str(to_xla_sharding(sharding)) == str(sharding)


def test_jaxlibs_objects_come_back_as_they_went() -> None:
    random = Random(6)
    for _ in range(500):
        sharding = random_any(random)
        message = to_op_sharding(sharding)
        assert isinstance(message, xla_client.OpSharding)
        assert from_op_sharding(message) == sharding
        assert from_xla_sharding(to_xla_sharding(sharding)) == sharding


def test_canonical_shardings_are_the_same_to_xla() -> None:
    random = Random(7)
    for _ in range(SAMPLES):
        sharding = random_plain(random)
        if sharding.num_devices == 1:
            continue
        canonical = sharding.canonical()
        mine, theirs = to_xla_sharding(sharding), to_xla_sharding(canonical)
        assert mine == theirs
        assert mine.num_devices() == theirs.num_devices()
        if sharding.kind is HloShardingKind.TILED:
            assert sharding.tiles is not None
            assert list(mine.tile_assignment_devices()) == sharding.tiles.devices().ravel().tolist()
            assert list(theirs.tile_assignment_devices()) == list(mine.tile_assignment_devices())


def test_named_shardings_are_what_xla_prints() -> None:
    random = Random(8)
    ours = [random_named(random) for _ in range(SAMPLES)]
    for sharding in ours:
        assert str(to_xla_sharding(sharding)) == str(sharding)
        assert sharding.is_equivalent(from_xla_sharding(to_xla_sharding(sharding)))
        tiled = to_xla_sharding(sharding).v3_to_v2_sharding()
        assert sharding.is_equivalent(from_xla_sharding(tiled)), str(sharding)

"""Suggestions, applied: the compiled program exchanges less, and XLA warns no more."""

from __future__ import annotations

import sdy
from tests.corpus.partitioned import partition
from tests.corpus.resharding_programs import RESHARDING, WARNED_OF


def test_suggestions_lower_the_communication_of_compiled_programs() -> None:
    before, after = [], []
    for name in WARNED_OF:
        explained = sdy.explain(RESHARDING[name]())
        best, *_ = explained.suggestions()
        before.append(str(explained.module))
        after.append(str(explained.with_constraint(best.value, best.sharding).module))
    answers = zip(WARNED_OF, partition(before), partition(after), strict=True)
    for name, without, with_suggestion in answers:
        assert without.warnings, name
        assert not with_suggestion.warnings, name
        assert with_suggestion.bytes.total() < without.bytes.total(), name

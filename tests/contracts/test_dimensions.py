"""A fact has its notice, and its notice is long enough for every clock that may be ahead."""

from datetime import timedelta

import pytest

from contracts import DIMENSIONS, NOTICE, ON_ITS_WAY, Contract, holds_from
from contracts.validation import VALIDATED

MINUTE_MS = 60_000


@pytest.mark.parametrize("contract", VALIDATED.values(), ids=VALIDATED)
def test_an_event_comes_after_what_holds_at_its_moment(contract: Contract) -> None:
    assert (contract.skew or timedelta()) + ON_ITS_WAY <= NOTICE


def test_every_topic_with_a_moment_from_which_it_holds_is_one_of_facts() -> None:
    names = {name: {field.name for field in topic.fields} for name, topic in VALIDATED.items()}
    assert {name for name in names if "effective_at" in names[name]} == set(DIMENSIONS)


@pytest.mark.parametrize(("notice", "later"), [(11, 0), (10, 0), (9, 1), (0, 10), (-60, 70)])
def test_a_fact_holds_when_it_says_or_once_it_has_had_its_notice(notice: int, later: int) -> None:
    effective_ms = 1_000 * MINUTE_MS
    published_ms = effective_ms - notice * MINUTE_MS
    assert holds_from(effective_ms, published_ms) == effective_ms + later * MINUTE_MS

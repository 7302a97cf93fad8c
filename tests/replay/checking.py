"""Compares a generation's answer with the oracle's."""

from contracts import STOCK_LEVELS, compute_digest, encode_key
from ops.verify.oracles import ask_oracle
from tests.replay.answer import Answer, answer
from tests.replay.running import Work

SHOWN_MAX = 5


def check(work: Work) -> Answer:
    """What the generation has written, held against the oracle's at the same offsets."""
    found = answer(work)
    asked = ask_oracle(work.pipeline.name, work.settings, found.inputs)
    answers = asked.compute_views()
    assert {view.name for view in work.pipeline.writes} == answers.keys()
    for view, own_digest in zip(work.pipeline.writes, found.digests, strict=True):
        expected, rows = (
            {encode_key(view, row): row for row in answers[view.name]},
            found.rows[view.name],
        )
        wrong = {key for key in rows | expected if rows.get(key) != expected.get(key)}
        assert not [(rows.get(key), expected.get(key)) for key in sorted(wrong)[:SHOWN_MAX]]
        assert expected, f"{view.name} has rows to be compared"
        assert own_digest == compute_digest(view, expected.values())
    assert found.books == asked.count_books()
    return found


def count_units(work: Work) -> int:
    """The units on hand of all shelves, of which the oracle has as many."""
    return sum(row["units_on_hand"] for row in check(work).rows[STOCK_LEVELS.name].values())

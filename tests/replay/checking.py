"""Compares a generation's answer with the oracle's."""

from contracts import compute_digest, encode_key
from ops.verify.oracles import ask_oracle
from tests.replay.answer import Answer
from tests.replay.running import Work

SHOWN_MAX = 5


def check(answer: Answer, work: Work) -> None:
    """Hold the answer against the oracle's, at the same offsets."""
    asked = ask_oracle(work.pipeline.name, work.settings, answer.inputs)
    answers = asked.compute_views()
    assert {view.name for view in work.pipeline.writes} == answers.keys()
    for view, own_digest in zip(work.pipeline.writes, answer.digests, strict=True):
        expected, rows = (
            {encode_key(view, row): row for row in answers[view.name]},
            answer.rows[view.name],
        )
        wrong = {at for at in rows | expected if rows.get(at) != expected.get(at)}
        assert not [(rows.get(at), expected.get(at)) for at in sorted(wrong)[:SHOWN_MAX]]
        assert expected, f"{view.name} has rows to be compared"
        assert own_digest == compute_digest(view, expected.values())
    assert answer.books == asked.count_books()

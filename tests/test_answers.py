"""What a guide may leave open of an answer, and what not."""

import pytest

from ops.cli.experiments import parse_exchanges
from tests.answers import is_alike, is_same

WRITTEN = """\
  caught up     ████████ 212,480 records, 71,300/s    12 s
  difference    generation 1 → generation 2
  …
  report        data/reports/fraud-g1-g2.json
"""
ANSWERED = """\
  caught up     ████████ 9,480 records, 300/s         9 s
  difference    generation 1 → generation 2
                fraud at marker 7 · 900 records
  report        /tmp/7/reports/fraud-g1-g2.json
"""


def test_a_block_has_commands_and_answers() -> None:
    block = "$ one \\\n    more\nyes\n\nno\n$ two\n$ three\n!\n"
    assert list(parse_exchanges(block)) == [
        ("one \\\n    more", "yes\n\nno\n"),
        ("two", ""),
        ("three", "!\n"),
    ]


def test_an_answer_is_as_it_is_written_but_for_what_is_left_out() -> None:
    one, left_out, more = "generation 1\n", "…\n", "report 1\n"
    answered = f"{one}900 records\n7 rows\n{more}"
    assert is_same(one + left_out + more, answered)
    assert is_same(one + left_out + more, one + more)
    assert not is_same(one + left_out + more, answered.replace("1", "3"))
    assert not is_same(one + left_out + more, answered.replace("report ", "reports"))
    assert not is_same(one + more, answered)


def test_numbers_and_widths_are_those_of_a_run() -> None:
    assert is_alike(WRITTEN, ANSWERED)
    assert not is_same(WRITTEN, ANSWERED)


@pytest.mark.parametrize(
    ("there", "otherwise"),
    [
        ("generation 1 →", "generation 3 →"),
        ("caught up", "broken off"),
        ("records, 300/s", "records"),
        ("  report        /tmp/7/reports/fraud-g1-g2.json\n", ""),
    ],
)
def test_words_and_the_numbers_of_generations_are_not(there: str, otherwise: str) -> None:
    assert there in ANSWERED
    assert not is_alike(WRITTEN, ANSWERED.replace(there, otherwise))


def test_what_is_served_counts_in_json_too() -> None:
    written = '"generation":2,"served":2,"rows":91\n'
    assert is_alike(written, written.replace("91", "7"))
    assert not is_alike(written, written.replace('served":2', 'served":1'))
    assert not is_alike(written, written.replace('generation":2', 'generation":1'))

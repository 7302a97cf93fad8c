"""What a guide may leave open of an answer, and what not."""

from tests.answers import exchanges, same

WRITTEN = """\
  difference    generation 1 → generation 2
  …
  report        data/reports/fraud-g1-g2.html
"""
ANSWERED = """\
  difference    generation 1 → generation 2
                fraud at marker 7 · 900 records
  report        data/reports/fraud-g1-g2.html
"""


def test_a_block_has_commands_and_answers() -> None:
    block = "$ one \\\n    more\nyes\n\nno\n$ two\n$ three\n!\n"
    assert list(exchanges(block)) == [
        ("one \\\n    more", "yes\n\nno\n"),
        ("two", ""),
        ("three", "!\n"),
    ]


def test_an_answer_is_as_it_is_written_but_for_what_is_left_out() -> None:
    assert same(WRITTEN, ANSWERED)
    assert not same(WRITTEN, ANSWERED.replace("1", "3"))
    assert not same(WRITTEN, ANSWERED.replace("report ", "reports"))

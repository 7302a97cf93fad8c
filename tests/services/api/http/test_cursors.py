"""Cursors: opaque, and refused where they do not fit."""

from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.api.http.paging import Cursor, resume
from services.api.http.problems import Problem

WHOLE = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(WHOLE, TEXT, TEXT)
def test_a_cursor_leads_back_to_its_place(units: int, store: str, sku: str) -> None:
    text = str(Cursor(7, "sort=-units_on_hand", (units, store, sku)))
    assert resume(text, 7, "sort=-units_on_hand", (int, str, str)) == (units, store, sku)


@given(st.text(max_size=60))
def test_what_is_not_a_cursor_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="begin with the first page") as refusal:
        resume(text, 1, "sort=key", (str, str))
    assert refusal.value.status == HTTPStatus.UNPROCESSABLE_ENTITY


@pytest.mark.parametrize("after", [("S001",), ("S001", 5), ("S001", "A", "B"), (2**70, "A")])
def test_a_place_of_another_shape_is_refused(after: tuple[str | int, ...]) -> None:
    kinds = (str, str) if isinstance(after[0], str) else (int, str)
    with pytest.raises(Problem, match="expected the `next` of an earlier page"):
        resume(str(Cursor(1, "sort=key", after)), 1, "sort=key", kinds)


def test_a_cursor_of_another_generation_is_gone() -> None:
    with pytest.raises(Problem, match="begin with the first page") as refusal:
        resume(str(Cursor(1, "sort=key", ("S001", "A"))), 2, "sort=key", (str, str))
    assert refusal.value.status == HTTPStatus.GONE
    assert refusal.value.members == {"generation": 2}


def test_a_cursor_of_another_question_is_refused() -> None:
    with pytest.raises(Problem, match="Keep filters and sort unchanged"):
        resume(str(Cursor(1, "sort=key", ("S001", "A"))), 1, "sku=A&sort=key", (str, str))

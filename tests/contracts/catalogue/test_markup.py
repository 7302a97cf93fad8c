"""Texts of a contract become text on a page, never markup."""

from contracts.catalogue.markup import join, render_element


def test_text_is_escaped_and_markup_is_not() -> None:
    made = render_element("p", "a < b & c", render_element("b", "<script>"), title='"quoted"')
    assert made == ('<p title="&quot;quoted&quot;">a &lt; b &amp; c<b>&lt;script&gt;</b></p>')


def test_what_is_nothing_is_left_out() -> None:
    assert join("a", None, render_element("b", class_=None)) == "a<b></b>"

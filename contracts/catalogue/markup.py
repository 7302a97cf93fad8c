"""HTML from elements: text that is not markup is escaped."""

from html import escape

Child = str | None


class Html(str):
    """Markup, which is not escaped again."""

    __slots__ = ()


def render_element(name: str, /, *children: Child, **attributes: str | float | None) -> Html:
    """An element. `class_` means class, another underscore a hyphen; None omits the attribute."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    return Html("".join(_escape(child) for child in children if child is not None))


def _escape(child: str) -> str:
    return child if isinstance(child, Html) else escape(child, quote=False)


def render_link(text: str, address: str) -> Html:
    return render_element("a", text, href=address)


def render_code(text: str) -> Html:
    return render_element("code", text)


def list_items(*items: Child, class_: str | None = None) -> Html:
    return render_element("ul", *(render_element("li", item) for item in items), class_=class_)


def render_table(
    heads: tuple[str, ...], *rows: tuple[Child, ...], class_: str | None = None
) -> Html:
    """A table in a frame that scrolls on a narrow screen."""
    head = render_element("tr", *(render_element("th", one, scope="col") for one in heads))
    body = (render_element("tr", *(render_element("td", cell) for cell in row)) for row in rows)
    whole = render_element(
        "table", render_element("thead", head), render_element("tbody", *body), class_=class_
    )
    return render_element("div", whole, class_="scrolls", tabindex="0")


def describe(*pairs: tuple[str, Child]) -> Html:
    """Terms with their descriptions, without empty ones."""
    entries = (
        render_element("div", render_element("dt", term), render_element("dd", value))
        for term, value in pairs
        if value
    )
    return render_element("dl", *entries)

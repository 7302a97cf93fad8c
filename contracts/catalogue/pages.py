"""The pages: an overview, one per topic or view, one per consumer, and one of all fields."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from contracts.catalogue.knowledge import Knowledge, Words
from contracts.catalogue.markup import (
    Html,
    describe,
    join,
    list_items,
    render_code,
    render_element,
    render_link,
    render_table,
)
from contracts.declarations import Consumer, Use
from contracts.documents import to_document
from contracts.evolution.reliances import describe_retention
from contracts.fields import PERSONAL
from contracts.projection import Path, list_leaves, render_path
from contracts.shape import Contract, Field, Rule
from contracts.times import render_span

NAME = "Catalogue"


class Page(NamedTuple):
    """A page before it is framed."""

    title: str
    base: str
    """The path from the page to the site's folder: empty, or `../`."""
    body: Html


Frame = Callable[[Page], str]
"""Makes a whole page: a head, and links to other pages around the body."""


def build_page(title: str, base: str, *body: str | None) -> Page:
    return Page(title, base, join(*body))


def list_ways(base: str) -> Html:
    """Links to the parts of the catalogue."""
    return join(
        render_link(NAME, f"{base}index.html"),
        render_link("Topics", f"{base}index.html#topics"),
        render_link("Consumers", f"{base}index.html#consumers"),
        render_link("Fields", f"{base}fields.html"),
    )


def build_index(known: Knowledge) -> Page:
    topics = [one for one in known.contracts.values() if one.kind == "topic"]
    counts = (
        f"{len(topics)} topics and {len(known.contracts) - len(topics)} views, "
        f"{len(known.consumers)} who write and read them."
    )
    consumers = [
        (
            render_link(one.name, f"consumers/{one.name}.html"),
            one.kind,
            one.owner,
            one.description,
            str(len(one.reads) or ""),
            str(len(one.writes) or ""),
        )
        for one in known.consumers.values()
    ]
    heads = ("name", "kind", "owner", "what it does", "reads", "writes")
    agreed = f"What is agreed about every record that anybody here publishes. {counts}"
    return build_page(
        NAME,
        "",
        render_element("h1", NAME),
        render_element("p", agreed),
        render_element("h2", "Topics and views", id="topics"),
        render_element(
            "div", *(_render_card(known, one) for one in known.contracts.values()), class_="cards"
        ),
        render_element("h2", "Consumers", id="consumers"),
        render_table(heads, *consumers),
    )


def _render_card(known: Knowledge, one: Contract) -> Html:
    readers = len(known.find_readers(one))
    summary = f"{one.owner} · {readers} reader{'' if readers == 1 else 's'} · v{one.version}"
    return render_element(
        "a",
        render_element("strong", one.name),
        _render_badges(known, one),
        render_element("span", one.description, class_="purpose"),
        render_element("span", summary, class_="hint"),
        href=f"topics/{one.name}.html",
        class_="card",
    )


def _render_badges(known: Knowledge, one: Contract) -> Html:
    words = [one.kind, one.visibility]
    if any(field.personal for _, field in list_leaves(one.fields)):
        words.append("personal data")
    if one.name not in known.released:
        words.append("draft")
    if one.sunset:
        words.append(f"sunset {one.sunset}")
    return render_element(
        "span",
        *(render_element("span", word, class_=f"badge {word.split()[0]}") for word in words),
        class_="badges",
    )


def build_contract_page(known: Knowledge, one: Contract) -> Page:
    words = known.read_words(one)
    rules = [rule for rule in one.rules if rule.kind != "required"]
    history = [
        (render_code(version), list_items(*what)) for version, what in known.list_history(one)
    ]
    return build_page(
        one.name,
        "../",
        render_element("h1", one.name),
        render_element("p", _render_badges(known, one)),
        render_element("p", one.description, class_="lead"),
        render_element("p", words.usage) if words.usage else None,
        render_element("p", f"Mind: {words.limitations}") if words.limitations else None,
        render_element("h2", "Who writes and reads it"),
        describe(("written by", join(*map(_link_consumer, known.find_writers(one))))),
        _render_uses(known, one),
        render_element("h2", "Terms"),
        _render_terms(known, one, words),
        render_element("h2", "Fields"),
        _render_fields(known, one),
        render_element("h2", "Rules"),
        render_element("p", "A record is rejected that breaks one, or lacks a required field."),
        list_items(*(_render_rule(rule) for rule in rules), class_="rules"),
        render_element("h2", "Examples"),
        *(
            render_element("pre", render_code(_render_json(one, value)), tabindex="0")
            for value in one.examples
        ),
        render_element("h2", "History"),
        render_table(("version", "what changed"), *history),
    )


def _link_consumer(who: str) -> Html:
    return join(render_link(who, f"../consumers/{who}.html"), " ")


def _link_topic(topic: str) -> Html:
    return render_link(topic, f"../topics/{topic}.html")


def _render_uses(known: Knowledge, one: Contract) -> Html | None:
    rows = [
        (_link_consumer(who), use.purpose, _render_use(use), _render_reliances(use))
        for who, use in known.find_readers(one).items()
    ]
    return render_table(("who", "what for", "fields", "relies on"), *rows) if rows else None


def _render_use(use: Use) -> Html:
    if use.fields == "all":
        return render_element("span", "all of them", class_="hint")
    return join(*(join(render_code(field), " ") for field in use.fields))


def _render_reliances(use: Use) -> Html:
    relies = use.relies_on
    words = [
        *(f"{field} in {unit}" for field, unit in relies.units.items()),
        *(f"{field} {sign}" for field, sign in relies.sign.items()),
        *(f"{field}: {', '.join(some)}" for field, some in relies.values.items()),
        f"order per {', '.join(relies.order)}" if relies.order else None,
        f"unique: {', '.join(relies.unique)}" if relies.unique else None,
        f"at most {relies.late} late" if relies.late else None,
        f"kept {relies.kept}" if relies.kept else None,
    ]
    return list_items(*filter(None, words), class_="tight")


def _render_terms(known: Knowledge, one: Contract, words: Words) -> Html:
    settings = " · ".join(f"{name} = {value}" for name, value in one.settings.config.items())
    return describe(
        ("owner", one.owner),
        ("key", join(*(join(render_code(name), " ") for name in one.key))),
        ("happened", render_code(one.event_time) if one.event_time else None),
        ("horizon", _render_span(one.horizon, words.spans.get("horizon"))),
        ("skew", _render_span(one.skew, words.spans.get("skew"))),
        ("kept", describe_retention(one)),
        ("partitions", str(one.settings.partitions)),
        (
            "settings",
            join(render_code(settings), render_element("p", words.settings, class_="hint")),
        ),
        ("may read it", ", ".join((f"the domain {one.domain}", *one.readers)))
        if one.visibility == "private"
        else ("may read it", "anybody"),
        ("schema ids", ", ".join(map(str, known.list_schema_ids(one)))),
        ("written in", render_code(f"contracts/{one.file}")),
    )


def _render_span(length: timedelta | None, why: str | None) -> Html | None:
    if length is None:
        return None
    return join(render_span(length), render_element("p", why, class_="hint"))


def _render_fields(known: Knowledge, one: Contract) -> Html:
    uses = {who: set(use.list_paths(one)) for who, use in known.find_readers(one).items()}
    rows = []
    for path, field in list_leaves(one.fields):
        users = [who for who, paths in uses.items() if path in paths]
        rows.append(
            (
                render_code(render_path(path)),
                field.type,
                _render_unit(field),
                "" if field.required else "may be absent",
                join(field.description, _render_personal(field)),
                _render_example(field),
                ", ".join(users),
            )
        )
    heads = ("field", "type", "unit", "presence", "what it means", "for example", "used by")
    return render_table(heads, *rows, class_="fields")


def _render_unit(field: Field) -> str:
    return f"{field.unit or ''} per {field.per}".lstrip() if field.per else field.unit or ""


def _render_personal(field: Field) -> Html | None:
    """The badge of a field that names a person, with purpose and retention."""
    if field.personal is None:
        return None
    purpose, retention = field.personal.purpose, field.personal.retention
    return render_element(
        "p",
        render_element("span", PERSONAL, class_=f"badge {PERSONAL}"),
        f" {purpose}" if purpose else None,
        f" Kept {retention}." if retention else None,
        class_="hint",
    )


def _render_example(field: Field) -> Html | None:
    if not field.examples:
        return None
    first = field.examples[0]
    if isinstance(first, datetime):
        return render_code(
            first.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        )
    return render_code(first.hex() if isinstance(first, bytes) else str(first))


def _render_rule(rule: Rule) -> Html:
    why = (
        render_element("span", f" {rule.description}", class_="hint") if rule.description else None
    )
    return join(rule.name, why)


def _render_json(one: Contract, value: Any) -> str:
    return json.dumps(to_document(one, value), indent=2, ensure_ascii=False, default=_render_bytes)


def _render_bytes(value: Any) -> str:
    return f"{value.hex()} (bytes)" if isinstance(value, bytes) else str(value)


def build_consumer_page(one: Consumer) -> Page:
    heads = ("topic", "what for", "fields", "relies on")
    rows = [
        (_link_topic(topic), use.purpose, _render_use(use), _render_reliances(use))
        for topic, use in one.reads.items()
    ]
    return build_page(
        one.name,
        "../",
        render_element("h1", one.name),
        render_element("p", render_element("span", one.kind, class_=f"badge {one.kind}")),
        render_element("p", one.description, class_="lead"),
        describe(
            ("owner", one.owner),
            ("domain", one.domain),
            ("written in", render_code(f"contracts/consumers/{one.name}.yaml")),
            ("writes", list_items(*map(_link_topic, one.writes)) if one.writes else None),
        ),
        render_element("h2", "Reads") if rows else None,
        render_table(heads, *rows) if rows else None,
    )


def build_fields_page(known: Knowledge) -> Page:
    """All fields by name: a word should mean the same everywhere."""
    fields: list[tuple[str, Contract, Path, Field]] = [
        (path[-1], one, path, field)
        for one in known.contracts.values()
        for path, field in list_leaves(one.fields)
    ]
    rows = [
        (
            render_code(name),
            render_link(one.name, f"topics/{one.name}.html"),
            render_code(render_path(path)) if len(path) > 1 else "",
            field.type,
            _render_unit(field),
            render_element("span", PERSONAL, class_=f"badge {PERSONAL}") if field.personal else "",
            field.description,
        )
        for name, one, path, field in sorted(fields, key=lambda row: (row[0], row[1].name))
    ]
    heads = ("field", "in", "within", "type", "unit", "names a person", "what it means")
    return build_page(
        "Fields",
        "",
        render_element("h1", "Fields"),
        render_element("p", f"{len(rows)} fields, by name. The same word should mean the same."),
        render_table(heads, *rows, class_="fields"),
    )

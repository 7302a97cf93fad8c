"""The pages: an overview, one per topic or view, one per consumer, and one of all fields."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from contracts.catalogue.graph import graph
from contracts.catalogue.knowledge import Knowledge
from contracts.catalogue.markup import Html, code, describe, element, join, link, list_items, table
from contracts.consumer import Consumer, Use
from contracts.documents import to_document
from contracts.evolution.reliances import retention
from contracts.fields import PERSONAL
from contracts.projection import Path, leaves, render_path
from contracts.shape import Contract, Field
from contracts.times import span

NAME = "Catalogue"


class Page(NamedTuple):
    """A page before it is framed."""

    title: str
    base: str
    """The way from it to the site's folder: empty, or `../`."""
    body: Html


Frame = Callable[[Page], str]
"""Makes a whole page: its head, and the ways to other pages around its body."""


def page(title: str, base: str, *body: str | None) -> Page:
    return Page(title, base, join(*body))


def frame_alone(one: Page) -> str:
    """The whole page of a site that stands alone."""
    head = join(
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<link rel="icon" href="data:,">'),
        Html(f'<link rel="stylesheet" href="{one.base}style.css">'),
        element("title", f"{one.title} · {NAME}" if one.title != NAME else NAME),
    )
    ways = element("nav", list_ways(one.base, class_="home"))
    whole = join(element("head", head), element("body", ways, element("main", one.body)))
    return f'<!doctype html>\n<html lang="en">{whole}</html>\n'


def list_ways(base: str, class_: str | None = None) -> Html:
    """Links to the parts of the catalogue; the class is that of the first one."""
    return join(
        link(NAME, f"{base}index.html", class_=class_),
        link("Topics", f"{base}index.html#topics"),
        link("Consumers", f"{base}index.html#consumers"),
        link("Fields", f"{base}fields.html"),
    )


def index(known: Knowledge) -> Page:
    topics = [one for one in known.contracts.values() if one.kind == "topic"]
    counts = (
        f"{len(topics)} topics and {len(known.contracts) - len(topics)} views, "
        f"{len(known.consumers)} who write and read them."
    )
    return page(
        NAME,
        "",
        element("h1", NAME),
        element("p", f"What is agreed about every record that anybody here publishes. {counts}"),
        element("p", link("Results of validation: Data Docs", known.data_docs))
        if known.data_docs
        else None,
        element("h2", "Who reads what"),
        element("p", "Point at a box to see what it is tied to.", class_="hint"),
        graph(known, known.contracts.values()),
        element("h2", "Topics and views", id="topics"),
        element("div", *(_card(known, one) for one in known.contracts.values()), class_="cards"),
        element("h2", "Consumers", id="consumers"),
        table(
            ("name", "kind", "owner", "what it does", "reads", "writes"),
            *(
                (
                    link(one.name, f"consumers/{one.name}.html"),
                    one.kind,
                    one.owner,
                    one.description,
                    str(len(one.reads) or ""),
                    str(len(one.writes) or ""),
                )
                for one in known.consumers.values()
            ),
        ),
    )


def _card(known: Knowledge, one: Contract) -> Html:
    readers = len(known.readers(one))
    told = f"{one.owner} · {readers} reader{'' if readers == 1 else 's'} · v{one.version}"
    return element(
        "a",
        element("strong", one.name),
        _badges(known, one),
        element("span", one.description, class_="purpose"),
        element("span", told, class_="hint"),
        href=f"topics/{one.name}.html",
        class_=f"card {known.hue(one)}",
    )


def _badges(known: Knowledge, one: Contract) -> Html:
    words = [one.kind, one.visibility]
    if any(field.personal for _, field in leaves(one.fields)):
        words.append("personal data")
    if one.name not in known.released:
        words.append("draft")
    if one.sunset:
        words.append(f"sunset {one.sunset}")
    return element(
        "span",
        *(element("span", word, class_=f"badge {word.split()[0]}") for word in words),
        class_="badges",
    )


def contract_page(known: Knowledge, one: Contract) -> Page:
    words = known.words(one)
    return page(
        one.name,
        "../",
        element("h1", one.name, class_=known.hue(one)),
        element("p", _badges(known, one)),
        element("p", one.description, class_="lead"),
        element("p", words.usage) if words.usage else None,
        element("p", f"Mind: {words.limitations}") if words.limitations else None,
        element("h2", "Who writes and reads it"),
        graph(known, [one], "../"),
        _uses(known, one),
        element("h2", "Terms"),
        _terms(known, one),
        element("h2", "Fields"),
        _fields(known, one),
        element("h2", "Rules"),
        element("p", "A record is rejected that breaks one, or lacks a required field."),
        list_items(
            *(_rule(rule.name, rule.description) for rule in one.rules if rule.kind != "required"),
            class_="rules",
        ),
        element("h2", "Examples"),
        *(element("pre", code(_json(one, value)), tabindex="0") for value in one.examples),
        element("h2", "History"),
        table(
            ("version", "what changed"),
            *((code(version), list_items(*what)) for version, what in known.history(one)),
        ),
    )


def _uses(known: Knowledge, one: Contract) -> Html | None:
    rows = [
        (
            link(who, f"../consumers/{who}.html"),
            use.purpose,
            _render_use(use),
            _render_reliances(use),
        )
        for who, use in known.readers(one).items()
    ]
    return table(("who", "what for", "fields", "relies on"), *rows) if rows else None


def _render_use(use: Use) -> Html:
    if use.fields == "all":
        return element("span", "all of them", class_="hint")
    return join(*(join(code(field), " ") for field in use.fields))


def _render_reliances(use: Use) -> Html:
    return list_items(*_reliances(use), class_="tight")


def _reliances(use: Use) -> Iterator[str]:
    relies = use.relies_on
    yield from (f"{field} in {unit}" for field, unit in relies.units.items())
    yield from (f"{field} {sign}" for field, sign in relies.sign.items())
    yield from (f"{field}: {', '.join(some)}" for field, some in relies.values.items())
    yield from ([f"order per {', '.join(relies.order)}"] if relies.order else [])
    yield from ([f"unique: {', '.join(relies.unique)}"] if relies.unique else [])
    yield from ([f"at most {relies.late} late"] if relies.late else [])
    yield from ([f"kept {relies.kept}"] if relies.kept else [])


def _terms(known: Knowledge, one: Contract) -> Html:
    words = known.words(one)
    settings = " · ".join(f"{name} = {value}" for name, value in one.settings.config.items())
    return describe(
        ("owner", one.owner),
        ("key", join(*(join(code(name), " ") for name in one.key))),
        ("happened", code(one.event_time) if one.event_time else None),
        ("horizon", _span(one.horizon, words.spans.get("horizon"))),
        ("skew", _span(one.skew, words.spans.get("skew"))),
        ("kept", retention(one)),
        ("partitions", str(one.settings.partitions)),
        ("settings", join(code(settings), element("p", words.settings, class_="hint"))),
        ("may read it", ", ".join((f"the domain {one.domain}", *one.readers)))
        if one.visibility == "private"
        else ("may read it", "anybody"),
        ("schema ids", ", ".join(map(str, known.schema_ids(one)))),
        ("written in", code(f"contracts/{one.file}")),
    )


def _span(length: timedelta | None, why: str | None) -> Html | None:
    if length is None:
        return None
    return join(span(length), element("p", why, class_="hint"))


def _fields(known: Knowledge, one: Contract) -> Html:
    uses = {who: set(use.paths(one)) for who, use in known.readers(one).items()}
    rows = []
    for path, field in leaves(one.fields):
        users = [who for who, paths in uses.items() if path in paths]
        rows.append(
            (
                code(render_path(path)),
                field.type,
                field.unit or "",
                "" if field.required else "may be absent",
                join(field.description, _render_personal(field)),
                _example(field),
                ", ".join(users),
            )
        )
    heads = ("field", "type", "unit", "presence", "what it means", "for example", "used by")
    return table(heads, *rows, class_="fields")


def _render_personal(field: Field) -> Html | None:
    """That it names a person, what for, and how long it is kept."""
    if field.personal is None:
        return None
    purpose, retention = field.personal.purpose, field.personal.retention
    return element(
        "p",
        element("span", PERSONAL, class_=f"badge {PERSONAL}"),
        f" {purpose}" if purpose else None,
        f" Kept {retention}." if retention else None,
        class_="hint",
    )


def _example(field: Field) -> Html | None:
    if not field.examples:
        return None
    first = field.examples[0]
    if isinstance(first, datetime):
        return code(first.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"))
    return code(first.hex() if isinstance(first, bytes) else str(first))


def _rule(name: str, why: str | None) -> Html:
    return join(name, element("span", f" {why}", class_="hint") if why else None)


def _json(one: Contract, value: Any) -> str:
    return json.dumps(to_document(one, value), indent=2, ensure_ascii=False, default=_hex)


def _hex(value: Any) -> str:
    return f"{value.hex()} (bytes)" if isinstance(value, bytes) else str(value)


def consumer_page(known: Knowledge, one: Consumer) -> Page:
    tied = [
        contract
        for contract in known.contracts.values()
        if contract.name in one.reads or contract.name in one.writes
    ]
    rows = [
        (
            link(topic, f"../topics/{topic}.html"),
            use.purpose,
            _render_use(use),
            _render_reliances(use),
        )
        for topic, use in one.reads.items()
    ]
    return page(
        one.name,
        "../",
        element("h1", one.name),
        element("p", element("span", one.kind, class_=f"badge {one.kind}")),
        element("p", one.description, class_="lead"),
        describe(
            ("owner", one.owner),
            ("domain", one.domain),
            ("written in", code(f"contracts/consumers/{one.name}.yaml")),
        ),
        element("h2", "What it is tied to"),
        graph(known, tied, "../"),
        *(
            (
                element("h2", "Reads"),
                table(("topic", "what for", "fields", "relies on"), *rows),
            )
            if rows
            else ()
        ),
        *(
            (
                element("h2", "Writes"),
                list_items(*(link(topic, f"../topics/{topic}.html") for topic in one.writes)),
            )
            if one.writes
            else ()
        ),
    )


def fields_page(known: Knowledge) -> Page:
    """Every field there is, by name: the same word should mean the same everywhere."""
    found: list[tuple[str, Contract, Path, Field]] = [
        (path[-1], one, path, field)
        for one in known.contracts.values()
        for path, field in leaves(one.fields)
    ]
    rows = [
        (
            code(name),
            link(one.name, f"topics/{one.name}.html"),
            code(render_path(path)) if len(path) > 1 else "",
            field.type,
            field.unit or "",
            element("span", PERSONAL, class_=f"badge {PERSONAL}") if field.personal else "",
            field.description,
        )
        for name, one, path, field in sorted(found, key=lambda row: (row[0], row[1].name))
    ]
    heads = ("field", "in", "within", "type", "unit", "names a person", "what it means")
    return page(
        "Fields",
        "",
        element("h1", "Fields"),
        element("p", f"{len(rows)} fields, by name. The same word should mean the same."),
        table(heads, *rows, class_="fields"),
    )

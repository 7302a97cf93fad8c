"""The OpenAPI document as a page: every route, its parameters and answers, and a form to call it.

Only the forms need a script.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.catalogue.markup import (
    Html,
    join,
    list_items,
    render_code,
    render_element,
    render_link,
    render_table,
)

Json = Mapping[str, Any]

DEPTH_MAX = 4
"""Fields within fields; a schema may name itself."""
CODE = re.compile(r"`([^`]+)`")
JSON = "application/json"
REFERENCE = "#/components/schemas/"
IN_FORMS = ("path", "query")
WIDE = 2**62
"""A bound beyond it is that of 64 bits; the page leaves it out."""


@dataclass(frozen=True)
class Operation:
    """A route and its method."""

    method: str
    path: str
    says: Json

    @property
    def anchor(self) -> str:
        return str(self.says["operationId"])

    @property
    def parameters(self) -> Sequence[Json]:
        parameters: Sequence[Json] = self.says.get("parameters", ())
        return parameters

    @property
    def body(self) -> Json | None:
        """The body in JSON; None for an operation without one."""
        content: Json = self.says.get("requestBody", {}).get("content", {})
        return content.get(JSON)

    @property
    def answer(self) -> Json:
        """The successful answer, by content type."""
        good: Json = next(
            (one for status, one in self.says["responses"].items() if status < "300"), {}
        )
        content: Json = good.get("content", {})
        return content


def render(document: Json) -> Html:
    """The content of the page."""
    groups = group_by_tag(document)
    schemas = document.get("components", {}).get("schemas", {})
    return join(
        render_element("h1", "API"),
        *(
            render_element("p", mark_code(text))
            for text in document["info"]["description"].split("\n\n")
        ),
        render_element("p", "For programs: ", render_link("/openapi.json", "/openapi.json")),
        render_element(
            "p", *(render_link(tag, f"#{name_tag(tag)}") for tag in groups), class_="ways"
        ),
        *(
            render_element(
                "section",
                render_element("h2", tag),
                *(_render_operation(one, schemas) for one in operations),
                id=name_tag(tag),
            )
            for tag, operations in groups.items()
        ),
    )


def group_by_tag(document: Json) -> Mapping[str, list[Operation]]:
    """The operations by their first tag, in the order of the document."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, says in methods.items():
            for tag in says.get("tags", ["others"])[:1]:
                groups.setdefault(tag, []).append(Operation(method.upper(), path, says))
    return groups


def name_tag(tag: str) -> str:
    return f"about-{tag.replace(' ', '-')}"


def mark_code(text: str) -> Html:
    """Text whose parts in backticks are code."""
    parts = CODE.split(text)
    return join(*(render_code(part) if at % 2 else part for at, part in enumerate(parts)))


def _render_operation(one: Operation, schemas: Json) -> Html:
    description = one.says.get("description")
    return render_element(
        "article",
        render_element(
            "h3",
            render_element("span", one.method, class_=f"badge {one.method.lower()}"),
            " ",
            render_code(one.path),
        ),
        render_element("p", mark_code(one.says["summary"])),
        render_element("p", mark_code(description), class_="hint") if description else None,
        render_element(
            "details",
            render_element("summary", f"Ask it; what {one.anchor} takes and answers"),
            _render_form(one),
            _render_parameters(one, schemas),
            *_render_answer(one, schemas),
            render_element("h4", "Statuses"),
            list_items(
                *(
                    join(render_code(status), f" {response['description']}")
                    for status, response in one.says["responses"].items()
                ),
                class_="tight",
            ),
        ),
        id=one.anchor,
        class_="operation",
    )


def _render_form(one: Operation) -> Html:
    """The form, hidden until its script runs."""
    asked = [each for each in one.parameters if each["in"] in IN_FORMS]
    return join(
        render_element(
            "form",
            *(_render_input(each) for each in asked),
            _render_body(one.body) if one.body else None,
            _render_token(one.says.get("security")),
            render_element("button", f"Send {one.method}", type="submit"),
            class_="ask filters",
            data_method=one.method,
            data_path=one.path,
            hidden="",
        ),
        render_element(
            "div",
            render_element("p", class_="state", role="status"),
            render_element("pre", tabindex="0"),
            class_="answered",
            hidden="",
        ),
    )


def _render_input(parameter: Json) -> Html:
    schema = parameter["schema"]
    several = schema.get("type") == "array"
    return render_element(
        "label",
        parameter["name"],
        " (several: a space between)" if several else None,
        render_element(
            "input",
            name=f"{parameter['in']}:{parameter['name']}",
            autocomplete="off",
            data_several="" if several else None,
            required="" if parameter.get("required") else None,
        ),
    )


def _render_body(body: Json) -> Html:
    name, first = next(iter(body.get("examples", {}).items()), ("", {"value": {}}))
    return render_element(
        "label",
        f"Body as JSON; here the example of {name}" if name else "Body as JSON",
        render_element("textarea", _to_text(first["value"]), name="body", rows="12"),
        class_="body",
    )


def _render_token(schemes: Sequence[Json] | None) -> Html | None:
    """The token's input, for a route with security schemes; {} among them: it is optional."""
    if not schemes:
        return None
    may_be_absent = {} in schemes
    return render_element(
        "label",
        "Token, with SECURE=on" if may_be_absent else "Token, which make up prints",
        render_element(
            "input",
            name="token",
            type="password",
            autocomplete="off",
            required=None if may_be_absent else "",
        ),
    )


def _render_parameters(one: Operation, schemas: Json) -> Html | None:
    rows = [
        (
            render_code(each["name"]),
            each["in"],
            describe_type(each["schema"], schemas),
            "" if each.get("required") else "may be absent",
            mark_code(each.get("description") or each["schema"].get("description", "")),
        )
        for each in one.parameters
    ]
    if not rows:
        return None
    return join(
        render_element("h4", "Parameters"),
        render_table(("name", "in", "type", "presence", "what it means"), *rows),
    )


def _render_answer(one: Operation, schemas: Json) -> Iterator[Html]:
    for kind, content in one.answer.items():
        yield render_element("h4", f"Answer, {kind}")
        rows = list(list_fields(content.get("schema", {}), schemas))
        if rows:
            yield render_table(
                ("field", "type", "unit", "what it means"),
                *((render_code(path), *rest, mark_code(meaning)) for path, *rest, meaning in rows),
            )
        if "example" in content:
            yield render_element("pre", render_code(_to_text(content["example"])), tabindex="0")


def list_fields(
    schema: Json, schemas: Json, path: str = "", depth: int = 0
) -> Iterator[tuple[str, str, str, str]]:
    """Path, type, unit and meaning of each field and of its inner fields."""
    resolved = resolve(schema, schemas)
    if resolved.get("type") == "array":
        yield from list_fields(resolved.get("items", {}), schemas, f"{path}[]", depth)
        return
    for name, field in resolved.get("properties", {}).items():
        at = f"{path}.{name}".removeprefix(".")
        target = resolve(field, schemas)
        meaning = field.get("description") or target.get("description", "")
        unit = field.get("unit") or target.get("unit", "")
        yield at, describe_type(field, schemas), unit, meaning
        if depth < DEPTH_MAX:
            yield from list_fields(field, schemas, at, depth + 1)


def resolve(schema: Json, schemas: Json) -> Json:
    """The target of a reference; for a choice between null and one schema, that schema."""
    named = schema.get("$ref")
    if named is not None:
        return resolve(schemas[named.removeprefix(REFERENCE)], schemas)
    others = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return resolve(others[0], schemas) if len(others) == 1 else schema


def describe_type(schema: Json, schemas: Json) -> str:
    """The type in words, with its limits."""
    if "anyOf" in schema:
        return " or ".join(describe_type(one, schemas) for one in schema["anyOf"])
    resolved = resolve(schema, schemas)
    if "enum" in resolved:
        return ", ".join(map(str, resolved["enum"]))
    if resolved.get("type") == "array":
        return f"list of {describe_type(resolved.get('items', {}), schemas)}"
    limits = " ".join(_list_limits(resolved))
    return f"{resolved.get('type', 'any')} {limits}".strip()


def _list_limits(schema: Json) -> Iterator[str]:
    if "default" in schema:
        yield f"(default {schema['default']})"
    for word, bound in (("from", "minimum"), ("to", "maximum")):
        if abs(schema.get(bound, WIDE)) < WIDE:
            yield f"{word} {schema[bound]:.15g}"  # a whole number without its ".0"
    if "maxLength" in schema:
        yield f"of at most {schema['maxLength']} characters"


def _to_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)

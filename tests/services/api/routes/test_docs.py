"""The page of the API tells all of the OpenAPI document, and comes from this machine alone."""

import re
from html import unescape

from services.api.http.reference import DEPTH_MAX, describe_type, list_fields
from services.api.routes.docs import PATH
from tests.services.serving import Answers

ID = re.compile(r'<article id="([^"]+)" class="operation"')


def test_every_operation_of_the_document_is_on_the_page_with_its_form(api: Answers) -> None:
    document, page = api.json("/openapi.json"), api.get(PATH).text
    operations = [
        (method.upper(), path, says)
        for path, methods in document["paths"].items()
        for method, says in methods.items()
    ]
    assert sorted(ID.findall(page)) == sorted(says["operationId"] for _, _, says in operations)
    for method, path, says in operations:
        assert f'data-method="{method}" data-path="{path}"' in page
        for parameter in says.get("parameters", ()):
            assert f"<code>{parameter['name']}</code>" in page
    assert document["openapi"].startswith("3.")


def test_a_field_of_an_answer_is_there_with_its_path_unit_and_meaning(api: Answers) -> None:
    schemas = api.json("/openapi.json")["components"]["schemas"]
    fields = {path: rest for path, *rest in list_fields(schemas["StockPage"], schemas)}
    kind, unit, meaning = fields["items[].units_on_hand"]
    assert (kind, unit) == ("integer", "units")
    assert meaning in unescape(api.get(PATH).text)
    assert "as_of.inputs" in fields


def test_a_schema_that_names_itself_has_an_end() -> None:
    schemas = {"Tree": {"properties": {"in": {"anyOf": [{"$ref": "#/components/schemas/Tree"}]}}}}
    paths = [path for path, *_ in list_fields(schemas["Tree"], schemas)]
    assert paths[-1].count(".") == DEPTH_MAX


def test_a_type_is_told_with_its_limits() -> None:
    schema = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "null"}]}
    assert describe_type(schema, {}) == "integer from 1 to 9 or null"
    assert describe_type({"type": "array", "items": {"enum": ["a", "b"]}}, {}) == "list of a, b"

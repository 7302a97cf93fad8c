"""docs/security.md: each claim names a test, and each test is there."""

import ast
import re

from infra.settings import locate_root

DOCUMENT = locate_root() / "docs" / "security.md"
NAMED = re.compile(r"\[(test_\w+)\]\(\.\./([^)]+)\)")
MENTIONED = re.compile(r"\btest_\w+\b(?!\.py)")


def test_every_claim_names_a_test() -> None:
    _, _, claims = DOCUMENT.read_text(encoding="utf-8").partition("## Who may reach it")
    rows = [line for line in claims.splitlines() if line.startswith("- ")]
    assert len(rows) > 20
    assert [row for row in rows if not NAMED.search(row)] == []


def test_every_mention_of_a_test_says_where_it_is() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert set(MENTIONED.findall(text)) == {name for name, _ in NAMED.findall(text)}


def test_every_test_that_it_names_is_there() -> None:
    named = set(NAMED.findall(DOCUMENT.read_text(encoding="utf-8")))
    assert {(name, file) for name, file in named if name not in list_functions(file)} == set()


def list_functions(file: str) -> set[str]:
    tree = ast.parse((locate_root() / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}

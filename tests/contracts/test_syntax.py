"""A file that is no good YAML: the error names its line, without the parser's words."""

from pathlib import Path

import pytest

from contracts import BadContract
from contracts.declarations import load_consumers
from contracts.loader import load

GOOD = Path(__file__).parents[2] / "contracts/topics/sales/receipt.v1.yaml"
STATUS = "status: active"
PARSER = ("while ", "did not find", "mapping values", "token", "<unicode string>", "column",
          "Input should", "validation error", "could not")  # fmt: skip


def fail(tmp_path: Path, text: str | bytes) -> str:
    file = tmp_path / "topics/sales/receipt.v1.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadContract) as raised:
        load(tmp_path)
    assert not any(words in str(raised.value) for words in PARSER), raised.value
    return str(raised.value)


NO_YAML = (
    "status: [active", "status: {is: active", 'status: "active', 'status: "act\\ive"',
    "status: is: active", "status active", "  status: active", "\tstatus: active",
    "status: @active", "status: *active", "status: !active now", "---\nstatus: active", "- status",
    "status: 2027-02-30", "status: \x07", "? [status]\n: active",
)  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        *((wrong, "expected YAML, found ") for wrong in NO_YAML),
        ("status: active\nstatus: active", "'status', which stands twice"),
        ("status: [active]", "expected a text, found a list"),
        ("status: 2", "expected a text, found 2"),
        ("status: active\nstaatus: 1\ntags: [x]", "Did you mean status?"),
        ("status: active\nteam: tills", "expected a mapping, found 'tills'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, wrong: str, told: str) -> None:
    text = GOOD.read_text()
    line = text[: text.index(STATUS)].count("\n") + 1
    found = fail(tmp_path, text.replace("team: {name: stores}\n", "").replace(STATUS, wrong))
    places = tuple(f"receipt.v1.yaml:{number}: " for number in (line, line + 1))
    of_line = [
        message for message in found.splitlines() if any(place in message for place in places)
    ]
    assert any(told in message for message in of_line), found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"name: receipt\nstatus: \xff\n", "receipt.v1.yaml:2: the file: expected UTF-8"),
        (b"", "expected a mapping, found nothing"),
        (b"- a\n", "expected a mapping, found a list"),
    ],
)
def test_a_file_that_is_no_mapping_is_named(tmp_path: Path, text: bytes, found: str) -> None:
    assert found in fail(tmp_path, text)


def test_everything_that_is_repeated_or_unknown_is_told_at_once(tmp_path: Path) -> None:
    text = GOOD.read_text().replace(STATUS, f"{STATUS}\n{STATUS}\ncolour: red")
    told = fail(tmp_path, text.replace("unit: m\n", "unit: m\n    unit: m\n    untt: m\n"))
    for part in ("'status', which", "'unit', which", "found 'colour'", "Did you mean unit?"):
        assert part in told


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("kind: tol", "till.yaml:2: kind: expected 'pipeline', 'service'"),
        ("kind: tool\nonwer: x", "till.yaml:3: onwer: expected keys of a consumer"),
        ("kind: tool\nreads: {t: {for: x, fields: 7}}", "reads.t.fields"),
        (
            "kind: tool\nreads:\n  t: {for: x, fields: all, relies_on: {lat: 2 h}}",
            "till.yaml:4: reads.t.relies_on.lat: expected keys of",
        ),
        (
            "kind: tool\nreads: {t: {for: x, fields: all, relies_on: {late: 2 weeks}}}",
            "expected a length of time as 2 h",
        ),
        ("kind: tool\nwrites: [7]", "writes.0: expected a valid string, found 7"),
        ("kind: tool\nname: till", "'name', which stands twice"),
        ("kind: [", "till.yaml:2: "),
    ],
)
def test_a_consumers_file_is_read_as_strictly(tmp_path: Path, wrong: str, told: str) -> None:
    text = f"name: till\n{wrong}\ndomain: d\nowner: o\ndescription: d\n"
    (tmp_path / "till.yaml").write_text(text)
    with pytest.raises(BadContract) as raised:
        load_consumers(tmp_path)
    assert told in str(raised.value)
    assert not any(words in str(raised.value) for words in PARSER)

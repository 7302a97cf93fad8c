"""A file that is no good YAML: the error names its line, and says in our words what is wrong."""

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
    return str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ("status: [active", "a bracket or brace that is not closed"),
        ("status: {is: active", "a bracket or brace that is not closed"),
        ('status: "active', "a quote that is not closed"),
        ('status: "act\\ive"', "a backslash"),
        ("status: is: active", "one colon too many"),
        ("status active", "text without a colon"),
        ("  status: active", "one colon too many"),
        ("\tstatus: active", "a tab"),
        ("status: @active", "a sign that cannot begin a text"),
        ("status: *active", "a * that names nothing"),
        ("status: !active now", "a ! that names no type"),
        ("---\nstatus: active", "a second document"),
        ("- status", "does not fit"),
        ("status: 2027-02-30", "in no calendar"),
        ("status: \x07", "a character that cannot be seen"),
        ("? [status]\n: active", "a key that is no text"),
        ("status: active\nstatus: active", "'status', which stands twice"),
        ("status: [active]", "expected a text, found a list"),
        ("status: 2", "expected a text, found 2"),
        ("statos: active", "Did you mean status?"),
        ("status: active\nstaatus: 1\ntags: [x]", "Did you mean status?"),
        ("status: active\nteam: tills", "expected a mapping, found 'tills'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, wrong: str, found: str) -> None:
    text = GOOD.read_text()
    before = text[: text.index(STATUS)].count("\n") + 1
    told = fail(tmp_path, text.replace("team: {name: stores}\n", "").replace(STATUS, wrong))
    of_line = [line for line in told.splitlines() if f"receipt.v1.yaml:{before}: " in line or
               f"receipt.v1.yaml:{before + 1}: " in line]  # fmt: skip
    assert any(found in line for line in of_line), told
    assert not any(words in told for words in PARSER), told


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"name: receipt\nstatus: \xff\n", "receipt.v1.yaml:2: the file: expected UTF-8"),
        (b"", "expected a mapping, found nothing"),
        (b"- a\n", "expected a mapping, found a list"),
        (b"7", "expected a mapping, found a whole number"),
    ],
)
def test_a_file_that_is_no_mapping_is_named(tmp_path: Path, text: bytes, found: str) -> None:
    assert found in fail(tmp_path, text)


def test_everything_that_is_repeated_or_unknown_is_told_at_once(tmp_path: Path) -> None:
    told = fail(
        tmp_path,
        GOOD.read_text()
        .replace(STATUS, f"{STATUS}\n{STATUS}\ncolour: red")
        .replace("unit: m\n", "unit: m\n    unit: m\n    untt: m\n"),
    )
    for part in ("'status', which", "'unit', which", "found 'colour'", "Did you mean unit?"):
        assert part in told


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("kind: tol", "till.yaml:2: kind: expected 'pipeline', 'service'"),
        ("kind: [tool]", "till.yaml:2: kind: expected 'pipeline', 'service'"),
        ("kind: tool\nonwer: x", "till.yaml:3: onwer: expected one of name, kind"),
        ("kind: tool\nonwer: x", "Did you mean owner?"),
        ("kind: tool\nreads: {t: {for: x, fields: 7}}", "reads.t.fields: expected "),
        ("kind: tool\nreads: {t: {for: x, feilds: all}}", "Did you mean fields?"),
        (
            "kind: tool\nreads:\n  t: {for: x, fields: all, relies_on: {lat: 2 h}}",
            "till.yaml:4: reads.t.relies_on.lat: expected one of units",
        ),
        (
            "kind: tool\nreads: {t: {for: x, fields: all, relies_on: {late: 2 weeks}}}",
            "expected a length of time as 2 h",
        ),
        ("kind: tool\nwrites: [7]", "writes.0: expected a text, found 7"),
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

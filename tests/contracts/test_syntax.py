"""A file that is no good YAML: the error names its line."""

from pathlib import Path

import pytest

from contracts import BadContract
from contracts.declarations import load_consumers
from contracts.loader import load

GOOD = Path(__file__).parents[2] / "contracts/topics/sales/receipt.v1.yaml"
STATUS = "status: active"


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
        ("status: [active", "expected YAML"),
        ('status: "act\\ive"', "expected YAML"),
        ("status: is: active", "expected YAML"),
        ("status: @active", "expected YAML"),
        ("\tstatus: active", "expected YAML"),
        ("status: active\nstatus: active", "'status', which stands twice"),
        ("status: [active]", "expected a text, found a list"),
        ("status: 2", "expected a text, found 2"),
        ("statos: active", "Did you mean status?"),
        ("status: active\nteam: tills", "expected a mapping, found 'tills'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, wrong: str, found: str) -> None:
    text = GOOD.read_text()
    line = text[: text.index(STATUS)].count("\n") + 1
    told = fail(tmp_path, text.replace("team: {name: stores}\n", "").replace(STATUS, wrong))
    assert any(f"receipt.v1.yaml:{each}: " in told for each in (line, line + 1)), told
    assert found in told


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"name: receipt\nstatus: \xff\n", "receipt.v1.yaml:2: the file: expected UTF-8"),
        (b"status: \x07", "expected YAML"),
        (b"status: 2027-02-30", "expected YAML"),
        (b"? [status]\n: active", "expected YAML"),
        (b"", "expected a mapping, found nothing"),
        (b"- a\n", "expected a mapping, found a list"),
        (b"7", "expected a mapping, found a whole number"),
    ],
)
def test_a_file_that_is_no_mapping_is_named(tmp_path: Path, text: bytes, found: str) -> None:
    assert found in fail(tmp_path, text)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("kind: tol", "till.yaml:2: kind: expected what its neighbours have, found 'tol'"),
        ("kind: tool\nonwer: x", "till.yaml:3: onwer: "),
        ("kind: tool\nreads: {t: {for: x, fields: 7}}", "reads.t.fields: expected "),
        ("kind: tool\nreads: {t: {for: x, feilds: all}}", "reads.t.f"),
        (
            "kind: tool\nreads:\n  t: {for: x, fields: all, relies_on: {lat: 2 h}}",
            "till.yaml:4: reads.t.relies_on.lat: ",
        ),
        (
            "kind: tool\nreads: {t: {for: x, fields: all, relies_on: {late: 2 weeks}}}",
            "expected a length of time as 2 h",
        ),
        ("kind: tool\nwrites: [7]", "writes.0: expected what its neighbours have, found 7"),
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

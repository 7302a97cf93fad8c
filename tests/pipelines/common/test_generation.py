"""Generation 1 is founded once, runs its own copy of the code, and refuses any other."""

import subprocess
import sys
from pathlib import Path

import pytest

from contracts import BOOKS, STOCK_LEVELS
from infra.kafka import admin, producer
from infra.settings import Settings, root
from pipelines.common import snapshot
from pipelines.common.generation import State, generations, invalidate, make_outputs
from pipelines.common.marker import mark
from pipelines.common.pipeline import load
from pipelines.run import Lost, Orphaned, promoted
from tests.processes import environment

pytestmark = pytest.mark.e2e

NAME = "inventory"


def run_generation(where: Settings, code: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "pipelines.common.run", NAME, "1"],
        cwd=code,
        env=environment(where, code),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_checkpoint_that_kafka_knows_nothing_of_is_refused(kafka: Settings) -> None:
    checkpoint = kafka.data_dir / "pipelines" / NAME / "g1" / "checkpoint"
    checkpoint.mkdir(parents=True)
    with pytest.raises(Orphaned, match="make reset"):
        promoted(kafka, NAME)
    checkpoint.rmdir()


def test_the_first_start_founds_generation_one(kafka: Settings) -> None:
    founded = promoted(kafka, NAME)
    assert (founded.number, founded.state) == (1, State.PROMOTED)
    assert founded.outputs == {
        STOCK_LEVELS.name: f"{STOCK_LEVELS.name}.g1",
        BOOKS.name: BOOKS.name,
    }
    assert snapshot.code_digest(founded.code(kafka), NAME) == founded.code_digest
    assert snapshot.drift(root(), NAME, 1, founded.code_digest) is None


def test_the_next_start_finds_it(kafka: Settings) -> None:
    assert promoted(kafka, NAME) == promoted(kafka, NAME)
    assert len(generations(kafka, NAME)) == 1


def test_a_generation_whose_checkpoint_is_gone_is_refused(kafka: Settings) -> None:
    founded = promoted(kafka, NAME)
    make_outputs(kafka, load(NAME), founded)
    mark(producer(kafka), admin(kafka), founded, 0, {})
    with pytest.raises(Lost, match="Put the folder back"):
        promoted(kafka, NAME)
    commits = founded.checkpoint(kafka) / "commits"
    offsets = founded.checkpoint(kafka) / "offsets"
    for folder, text in ((commits, ""), (offsets, 'v1\n{}\n{"sales":{"0":1}}')):
        folder.mkdir(parents=True)
        (folder / "0").write_text(text)
    assert promoted(kafka, NAME) == founded


def test_code_that_differs_names_the_way() -> None:
    message = snapshot.drift(root(), NAME, 1, "the digest of other code")
    assert message is not None
    assert "runs its own snapshot" in message
    assert "make replay PIPELINE=inventory" in message


def test_changed_code_is_refused_on_the_checkpoint(kafka: Settings, tmp_path: Path) -> None:
    promoted(kafka, NAME)
    code = tmp_path / "code"
    snapshot.take(root(), NAME, code)
    transform = code / "pipelines" / NAME / "transform.py"
    transform.write_text(transform.read_text().replace(" - closed()", ""))
    refused = run_generation(kafka, code)
    assert refused.returncode == 1
    assert "should run the code it was founded with" in refused.stderr
    assert "make replay PIPELINE=inventory" in refused.stderr


def test_an_invalid_generation_says_why(kafka: Settings) -> None:
    invalidate(kafka, promoted(kafka, NAME), "Spark dropped 3 records behind the watermark")
    [found] = generations(kafka, NAME)
    assert (found.state, found.reason) == (
        State.INVALID,
        "Spark dropped 3 records behind the watermark",
    )

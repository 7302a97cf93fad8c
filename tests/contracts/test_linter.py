"""An independent opinion: the linter of the standard's own tooling accepts every contract."""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from contracts import CONTRACTS
from infra.environment import LINTER
from tests.contracts.evolution.editing import HERE, RECEIPT

SECONDS_MAX = 120
LINT = """
import json, sys
from datacontract.data_contract import DataContract
for file in sys.argv[1:]:
    run = DataContract(data_contract_file=file).lint()
    found = {"file": file, "result": run.result, "checks": [c.reason for c in run.checks]}
    print(json.dumps(found, default=str))
"""

pytestmark = pytest.mark.e2e  # its first run downloads the linter


def run_linter(files: Iterable[Path]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [LINTER.ensure_python(), "-c", LINT, *files],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def is_accepted(result: dict[str, Any]) -> bool:
    return "passed" in str(result["result"])


def test_the_standards_own_linter_accepts_every_contract() -> None:
    files = [HERE / one.file for one in CONTRACTS.values()]
    results = run_linter(files)
    assert len(results) == len(files)
    assert [one for one in results if not is_accepted(one)] == []


def test_it_would_not_accept_anything(tmp_path: Path) -> None:
    text = (HERE / RECEIPT).read_text()
    broken = tmp_path / "receipt.v1.yaml"
    broken.write_text(text.replace("logicalType: array", "logicalType: basket"))
    [result] = run_linter([broken])
    assert not is_accepted(result)

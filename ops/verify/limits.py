"""The thresholds and the policy of a generation, in its own copy of the code."""

from pathlib import Path
from runpy import run_path
from typing import Any

from infra.settings import Settings, locate_root
from ops.generations.folders import locate_code
from ops.generations.lifecycle import load_generations


def load_thresholds(code: Path, pipeline: str) -> Any:
    """The pipeline's `Thresholds` in that copy of the code."""
    return run_path(str(code / "pipelines" / pipeline / "thresholds.py"))["Thresholds"]()


def load_policy(code: Path) -> Any:
    """The `Policy` of the reorder pipeline in that copy of the code."""
    return run_path(str(code / "pipelines" / "reorder" / "policy.py"))["Policy"]()


def find_code(settings: Settings, pipeline: str, number: int) -> Path:
    """The folder of the generation's code; the project's own if there is no copy here."""
    generation = load_generations(settings, pipeline).of(number)
    copy = locate_code(settings, generation) if generation else locate_root()
    return copy if copy.exists() else locate_root()

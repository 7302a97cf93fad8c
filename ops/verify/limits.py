"""The thresholds and the policy of a generation, in its own copy of the code."""

from pathlib import Path
from runpy import run_path
from typing import Any

from infra.settings import Settings, locate_root
from ops.generations.folders import locate_code
from ops.generations.lifecycle import load_generations


def load_limits(code: Path, pipeline: str, name: str = "Thresholds") -> Any:
    """The pipeline's `Thresholds` in that copy of the code, or its `Policy`."""
    return run_path(str(code / "pipelines" / pipeline / f"{name.lower()}.py"))[name]()


def find_code(settings: Settings, pipeline: str, number: int) -> Path:
    """The folder of the generation's code; the project's own if there is no copy here."""
    generation = load_generations(settings, pipeline).of(number)
    copy = locate_code(settings, generation) if generation else locate_root()
    return copy if copy.exists() else locate_root()

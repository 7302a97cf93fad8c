"""The thresholds of a generation, as they stand in its own copy of the code."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from infra.settings import Settings, root
from pipelines.common.generations.generation import generations


def thresholds(code: Path, pipeline: str) -> Any:
    """The pipeline's `Thresholds`, as that copy of the code has them."""
    file = code / "pipelines" / pipeline / "thresholds.py"
    spec = spec_from_file_location(f"thresholds_of_{pipeline}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Thresholds()


def code_of(settings: Settings, pipeline: str, number: int) -> Path:
    """Where the generation's code is; the project's own where its copy is not on this machine."""
    generation = generations(settings, pipeline).of(number)
    copy = generation.code(settings) if generation else root()
    return copy if copy.exists() else root()

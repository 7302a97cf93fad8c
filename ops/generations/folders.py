"""Where the generations of a pipeline keep their files."""

from pathlib import Path

from infra.folder import Folder
from infra.settings import PIPELINES, Settings
from ops.generations.record import Generation
from pipelines.engine.checkpoint import Checkpoint


def locate_home(settings: Settings, pipeline: str) -> Path:
    """The folder of all generations of the pipeline."""
    return settings.data_dir / PIPELINES / pipeline


def locate_folder(settings: Settings, generation: Generation) -> Path:
    """The folder of the generation's code and lease."""
    return locate_home(settings, generation.pipeline) / f"g{generation.number}"


def locate_code(settings: Settings, generation: Generation) -> Path:
    """The copy of the code that the generation runs."""
    return locate_folder(settings, generation) / "code"


def locate_checkpoints(settings: Settings, pipeline: str) -> Folder:
    """The folder of its generations' checkpoints: in the data folder, unless a URL says where."""
    home = locate_home(settings, pipeline)
    return Folder.of(settings.checkpoint_url or home.parent.as_uri()) / pipeline


def find_checkpoint(settings: Settings, pipeline: str, number: int) -> Checkpoint:
    """The checkpoint of a generation that the control topic may no longer know."""
    generation = f"g{number}"
    folder = locate_checkpoints(settings, pipeline) / generation / "checkpoint"
    return Checkpoint(folder, locate_home(settings, pipeline) / generation)


def locate_checkpoint(settings: Settings, generation: Generation) -> Checkpoint:
    return find_checkpoint(settings, generation.pipeline, generation.number)

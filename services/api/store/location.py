"""Where the API keeps its databases."""

from pathlib import Path

from infra.settings import Settings


def locate_folder(settings: Settings) -> Path:
    """The folder of all databases."""
    return settings.data_dir / "api"


def locate_database(folder: Path, pipeline: str, number: int) -> Path:
    """The file of the views of one generation."""
    return folder / f"{pipeline}.g{number}.sqlite"

"""The places of reports: differences between generations."""

from pathlib import Path

from infra.settings import REPORTS, Settings


def locate_reports(settings: Settings) -> Path:
    return settings.data_dir / REPORTS


def name_difference(pipeline: str, before: str, after: str) -> str:
    """The name of the report's files without their suffix, such as `fraud-g1-g2`."""
    named = f"{pipeline}-{before}-{after}"
    plain = "".join(each if each.isalnum() else "-" for each in named)
    return plain.replace("generation-", "g")


def find_difference(folder: Path, pipeline: str, before: int, after: int) -> Path:
    """The file of the difference between two generations; it may not exist."""
    name = name_difference(pipeline, f"generation {before}", f"generation {after}")
    return folder / f"{name}.json"

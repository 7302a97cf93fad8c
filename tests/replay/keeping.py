"""The archive of the lake alone, to the end of the log: `python -m tests.replay.keeping`."""

from infra.settings import read_settings
from pipelines.lake.tables import locate_lake
from pipelines.lake.work import append


def keep() -> None:
    settings = read_settings()
    bronze = locate_lake(settings).bronze
    bronze.make()
    while append(settings, bronze):
        pass
    bronze.tidy()


if __name__ == "__main__":
    keep()

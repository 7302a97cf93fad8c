"""The archive of the lake alone, to the end of the log: `python -m tests.replay.keeping`."""

from infra.settings import read_settings
from pipelines.lake.session import start_lake_session
from pipelines.lake.tables import locate_lake
from pipelines.lake.work import append


def keep() -> None:
    settings = read_settings()
    bronze, spark = locate_lake(settings).bronze, start_lake_session(settings)
    bronze.make(spark)
    while append(spark, settings, bronze):
        pass
    bronze.tidy(spark)


if __name__ == "__main__":
    keep()

"""The archive of the lake alone, to the end of the log: `python -m tests.replay.keeping`."""

from infra.settings import settings
from pipelines.lake.bronze import append
from pipelines.lake.session import lake_session
from pipelines.lake.tables import lake


def keep() -> None:
    where = settings()
    bronze, spark = lake(where).bronze, lake_session(where)
    bronze.make(spark)
    while append(spark, where, bronze):
        pass
    bronze.tidy(spark)


if __name__ == "__main__":
    keep()

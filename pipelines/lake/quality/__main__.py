"""One check of what is new in the lake: `python -m pipelines.lake.quality`, a child of the lake."""

import logging

from infra.logs import set_up_logging
from infra.settings import read_settings
from pipelines.engine.process import end_with_parent
from pipelines.lake.quality.run import check

if __name__ == "__main__":
    set_up_logging("lake")
    end_with_parent()
    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    check(read_settings())

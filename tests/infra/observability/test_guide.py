"""docs/observability.md: its commands are followed, and its table names every metric."""

import re
from pathlib import Path

from infra.settings import Settings, locate_root
from tests.guide import Reader, read_blocks
from tests.infra.observability.figures import read_families
from tests.services.serving import Answers

GUIDE = locate_root() / "docs" / "observability.md"


def test_whoever_follows_it_sees_the_lag(observed: Answers, tmp_path: Path) -> None:
    port = int(observed.address.rpartition(":")[2])
    here = Settings(data_dir=tmp_path / "data").model_copy(update={"port_base": port})
    [look] = read_blocks(GUIDE)["sh"]
    seen = Reader(here, tmp_path).shell(look)
    assert 'retail_pipeline_lag_records{pipeline="inventory"' in seen


def test_its_table_names_every_metric_with_its_labels(observed: Answers) -> None:
    named = re.findall(r"^\| `(retail_\w+)` \|", GUIDE.read_text(), re.MULTILINE)
    assert sorted(named) == sorted(set(named))
    assert set(named) == read_families(observed)

"""An oracle computes by the numbers of the generation that it is compared with."""

from pathlib import Path

from infra.settings import locate_root
from ops.verify.limits import load_limits
from pipelines.fraud.thresholds import Thresholds
from pipelines.reorder.policy import Policy


def copy_with(folder: Path, file: str, old: str, new: str) -> Path:
    """A copy of the code in which the text of one file is another."""
    text = (locate_root() / file).read_text()
    assert old in text
    copy = folder / file
    copy.parent.mkdir(parents=True)
    copy.write_text(text.replace(old, new))
    return folder


def test_thresholds_and_policy_are_those_of_the_copy(tmp_path: Path) -> None:
    copy_with(tmp_path, "pipelines/reorder/policy.py", "swing: float = 0.25", "swing: float = 0.5")
    assert load_limits(tmp_path, "reorder", "Policy").swing == 0.5
    assert load_limits(locate_root(), "reorder", "Policy").swing == Policy().swing == 0.25
    number = Thresholds().card_sales_per_window_max
    old, new = (f"card_sales_per_window_max: int = {each}" for each in (number, number + 3))
    copy_with(tmp_path, "pipelines/fraud/thresholds.py", old, new)
    assert load_limits(tmp_path, "fraud").card_sales_per_window_max == number + 3
    assert load_limits(locate_root(), "fraud").card_sales_per_window_max == number

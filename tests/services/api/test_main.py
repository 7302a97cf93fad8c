"""The API's process."""

import gc

from services.api.__main__ import keep_for_good


def test_what_was_made_before_it_listens_is_never_looked_through_again() -> None:
    made = [object()]
    try:
        keep_for_good()
        collected = gc.get_objects()
        assert not any(each is made for each in collected)
        assert gc.get_freeze_count() > len(collected)
    finally:
        gc.unfreeze()

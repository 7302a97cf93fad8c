"""The API's process."""

import gc

from services.api.__main__ import keep_for_good


def is_looked_through(what: object) -> bool:
    return any(each is what for each in gc.get_objects())


def test_what_was_made_before_it_listens_is_never_looked_through_again() -> None:
    made: list[object] = []
    assert is_looked_through(made)
    try:
        keep_for_good()
        assert not is_looked_through(made)
        assert is_looked_through([made])
    finally:
        gc.unfreeze()

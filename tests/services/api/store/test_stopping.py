"""An API ends in its time of grace, also when what a thread waits for never comes."""

import threading

from services.api.store.background import Background


class Waiting(Background):
    """A thread that does not look whether it is to stop, as one that waits for a broker."""

    def __init__(self) -> None:
        super().__init__("waiting")
        self.released = threading.Event()

    def run_once(self) -> None:
        self.released.wait()


def test_nobody_waits_longer_for_a_thread_than_they_may() -> None:
    waiting = Waiting()
    waiting.start()
    waiting.stop()
    waiting.join(0.05)
    assert waiting.is_alive()
    waiting.released.set()
    waiting.join()
    assert not waiting.is_alive()

"""The difference of a candidate, computed beside its catching up."""

from contextlib import suppress
from threading import Thread

from control.generations import Generation
from infra.settings import Settings
from infra.wait import wait_for
from pipelines.common.generations.folders import locate_checkpoint
from pipelines.common.pipeline import Pipeline
from pipelines.common.runtime.pace import LIVE_RECORDS_MAX
from replay import candidates
from replay.compare import Compared

BEGUN_SECONDS_MAX = 300.0


class DifferenceAhead:
    """Compares a candidate as soon as its worker has begun its first batch, and not after it.

    A difference is one of two answers at a marker of the promoted generation: it does not depend on
    how far the candidate has come, and both batches leave the cores fewer rests. A long log is not
    compared ahead: both batches at once would need the memory of both.
    """

    def __init__(
        self, settings: Settings, pipeline: Pipeline, candidate: Generation, records: int
    ) -> None:
        self._settings = settings
        self._pipeline = pipeline
        self._checkpoint = locate_checkpoint(settings, candidate)
        self._compared: Compared | None = None
        self._thread = Thread(target=self._compare, name="difference", daemon=True)
        if records <= LIVE_RECORDS_MAX:
            self._thread.start()

    def finish(self) -> Compared:
        """The difference; computed only now if it was not ahead. Raises as `candidates.diff`."""
        if self._thread.ident is not None:
            self._thread.join()
        return self._compared or candidates.diff(self._settings, self._pipeline)

    def _compare(self) -> None:
        with suppress(Exception):  # whatever it was: `finish` tries once more, and says why not
            if wait_for(lambda: self._checkpoint.find_newest_begun() >= 0, BEGUN_SECONDS_MAX):
                self._compared = candidates.diff(self._settings, self._pipeline)

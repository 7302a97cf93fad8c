"""The generations that should run, read repeatedly from the control topic."""

import logging
from collections.abc import Mapping

from confluent_kafka import KafkaException

from contracts import GENERATIONS
from infra.kafka import EndOffsets, Offsets, UnknownTopic, create_admin
from infra.settings import Settings
from ops.generations.record import Generation, Generations, State, read_generations

log = logging.getLogger("pipeline")


class Control:
    """The control topic; each look reads it again if it has grown."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._look_up = EndOffsets(create_admin(settings))
        self._ends: Offsets = {}
        self._known: Mapping[str, Generations] = {}

    def read(self) -> Mapping[str, Generations]:
        """The generations by pipeline; the last known ones while Kafka does not answer."""
        try:
            ends = self._look_up.read([GENERATIONS.name])
            if ends != self._ends:
                self._known, self._ends = read_generations(self._settings), ends
        except (KafkaException, UnknownTopic, TimeoutError) as error:
            log.warning("the control topic cannot be read: %s", error)
        return self._known

    def find_state(self, generation: Generation) -> State | None:
        """The state of the generation; None if it should no longer be kept up to date.

        A generation of an unknown pipeline continues, in its last state.
        """
        known = self.read().get(generation.pipeline)
        if known is None:
            return generation.state
        wanted = (one.state for one in known.running if one.number == generation.number)
        return next(wanted, None)

    def find_siblings(self, generation: Generation) -> Generations:
        """The generations of its pipeline, as last read."""
        return self._known.get(generation.pipeline, Generations(generation.pipeline))

"""Which generations are to run, looked up in the control topic again and again."""

import logging
from collections.abc import Mapping

from confluent_kafka import KafkaException

from contracts import GENERATIONS
from infra.kafka import Partition, UnknownTopic, admin, end_offsets
from infra.settings import Settings
from pipelines.common.generation import Generation, Generations, all_generations

log = logging.getLogger("pipeline")


class Control:
    """What the control topic says, read anew when there is more of it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._admin = admin(settings)
        self._ends: Mapping[Partition, int] = {}
        self._known: Mapping[str, Generations] = {}

    def look(self) -> Mapping[str, Generations]:
        """The generations of every pipeline, by its name: as last known, while Kafka is away."""
        try:
            ends = end_offsets(self._admin, [GENERATIONS.name])
            if ends != self._ends:
                self._known, self._ends = all_generations(self._settings), ends
        except (KafkaException, UnknownTopic, TimeoutError) as error:
            log.warning("the control topic is not answered for: %s", error)
        return self._known

    def wants(self, generation: Generation) -> bool:
        """Whether the generation is still to be kept up to date."""
        known = self.look().get(generation.pipeline)
        return known is None or any(one.number == generation.number for one in known.running)

    def promotes(self, generation: Generation) -> bool:
        """Whether readers follow the generation."""
        known = self.look().get(generation.pipeline)
        promoted = known.promoted if known else None
        return promoted is not None and promoted.number == generation.number

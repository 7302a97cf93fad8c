"""Changes of a pipeline's generations: each is one record of the control topic."""

import logging
from collections.abc import Callable, Mapping

from confluent_kafka import KafkaError, KafkaException

from contracts import BOOKS, GENERATIONS, encode, encode_key
from infra.errors import UserError
from infra.kafka import (
    EndOffsets,
    Offsets,
    UnknownTopic,
    apply_topics,
    create_admin,
    create_producer,
    send,
)
from infra.kafka.errors import get_error_code
from infra.lock import LockHeld, lock_folder
from infra.settings import Settings
from infra.wait import wait_for
from ops.generations import lease
from ops.generations.folders import list_numbers_on_disk, locate_folder, locate_home, remove
from ops.generations.record import Generation, Generations, State, get_wall_now, read_generations
from pipelines.common.pipeline import Pipeline

log = logging.getLogger("pipeline")

CHANGE_SECONDS_MAX = 30.0
END_SECONDS_MAX = 60.0
DELETE_SECONDS_MAX = 30.0

Change = Callable[[Generations], Generations]


def create_generation(
    pipeline: Pipeline,
    number: int,
    state: State,
    code_digest: str,
    libraries: str | None = None,
    state_partitions: int = 1,
) -> Generation:
    """A generation with output topics of its own. All share one topic of record accounting."""
    return Generation(
        pipeline=pipeline.name,
        number=number,
        state=state,
        code_digest=code_digest,
        created_at=get_wall_now(),
        libraries=libraries,
        state_partitions=state_partitions,
        outputs={
            BOOKS.name: BOOKS.name,
            **{view.name: f"{view.name}.g{number}" for view in pipeline.writes},
        },
    )


def make_outputs(settings: Settings, pipeline: Pipeline, generation: Generation) -> None:
    """Make the topics that the generation writes to, where they are missing."""
    written = (*pipeline.writes, BOOKS)
    apply_topics(settings, {generation.outputs[view.name]: view for view in written})


def load_generations(settings: Settings, pipeline: str) -> Generations:
    """The pipeline's generations, from the control topic."""
    return read_generations(settings).get(pipeline, Generations(pipeline))


def change(settings: Settings, pipeline: str, changed: Change) -> Generations:
    """Apply the function to the generations, and publish the result in one record.

    Processes change them one after the other. If the function raises, nothing changes. Raises
    LockHeld.
    """
    folder = locate_home(settings, pipeline)
    advice = f"It has done so for {CHANGE_SECONDS_MAX:g} s. See which: make status"
    held = LockHeld("process", f"change the generations of {pipeline}", advice)
    with lock_folder(folder, held, CHANGE_SECONDS_MAX):
        before = load_generations(settings, pipeline)
        after = changed(before)
        if after != before:
            control = after.to_row()
            record = encode_key(GENERATIONS, control), encode(GENERATIONS, control)
            send(create_producer(settings), GENERATIONS.name, *record)
    return after


def invalidate(settings: Settings, generation: Generation, reason: str) -> None:
    """Mark the generation as invalid: its answer can no longer be trusted."""
    pipeline, number = generation.name
    change(settings, pipeline, lambda generations: generations.to(State.INVALID, number, reason))


def prune_generation(settings: Settings, generation: Generation) -> None:
    """Remove all of the generation. After an interruption the next prune continues.

    Raises UserError.
    """
    numbers = frozenset({generation.number})
    change(settings, generation.pipeline, lambda generations: generations.minus(numbers))
    folder = locate_folder(settings, generation)
    if not wait_for(lambda: not lease.is_taken(folder), END_SECONDS_MAX):
        raise UserError(
            f"Generation {generation.number} of {generation.pipeline} is forgotten by readers, but "
            f"its process should have ended within {END_SECONDS_MAX:g} s and has not. Once it has "
            f"(make status), the next replay prune {generation.pipeline} removes its folder."
        )
    delete_topics(settings, generation)
    remove(settings, generation.pipeline, generation.number)


def delete_topics(settings: Settings, generation: Generation) -> None:
    """Delete the topics that only this generation writes to."""
    own = [topic for view, topic in generation.outputs.items() if topic != view]
    client = create_admin(settings)  # it must live until all answers have come
    deleted = client.delete_topics(own, operation_timeout=DELETE_SECONDS_MAX)
    for future in deleted.values():
        try:
            future.result(timeout=DELETE_SECONDS_MAX)
        except KafkaException as error:
            if get_error_code(error) != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise


def remove_leftovers(settings: Settings, pipeline: str) -> None:
    """Remove the folders of generations that the control topic does not know any more."""
    numbers = {generation.number for generation in load_generations(settings, pipeline).members}
    for number in set(list_numbers_on_disk(settings, pipeline)) - numbers:
        remove(settings, pipeline, number)


class Control:
    """The control topic; each look reads it again if it has grown."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._look_up = EndOffsets(create_admin(settings))
        self._ends: Offsets = {}
        self._generations: Mapping[str, Generations] = {}

    def read(self) -> Mapping[str, Generations]:
        """The generations by pipeline; the last known ones while Kafka does not answer."""
        try:
            ends = self._look_up.read([GENERATIONS.name])
            if ends != self._ends:
                self._generations, self._ends = read_generations(self._settings), ends
        except (KafkaException, UnknownTopic, TimeoutError) as error:
            log.warning("the control topic cannot be read: %s", error)
        return self._generations

    def find_state(self, generation: Generation) -> State | None:
        """The state of the generation; None if it should no longer be kept up to date.

        A generation of an unknown pipeline continues, in its last state.
        """
        generations = self.read().get(generation.pipeline)
        if generations is None:
            return generation.state
        states = {running.number: running.state for running in generations.running}
        return states.get(generation.number)

    def find_siblings(self, generation: Generation) -> Generations:
        """The generations of its pipeline, as last read."""
        return self._generations.get(generation.pipeline, Generations(generation.pipeline))

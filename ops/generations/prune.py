"""Prunes a generation: first readers forget it, then its process, topics and folder go."""

from confluent_kafka import KafkaError, KafkaException

from infra.errors import UserError
from infra.kafka import create_admin
from infra.kafka.errors import get_error_code
from infra.settings import Settings
from infra.wait import wait_for
from ops.generations import lease
from ops.generations.folders import locate_folder
from ops.generations.promotion import forget, remove
from ops.generations.record import Generation

END_SECONDS_MAX = 60.0
DELETE_SECONDS_MAX = 30.0


def prune_generation(settings: Settings, generation: Generation) -> None:
    """Remove all of the generation. After an interruption the next prune continues.

    Raises UserError.
    """
    forget(settings, generation.pipeline, frozenset({generation.number}))
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

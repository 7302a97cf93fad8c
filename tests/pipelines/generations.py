"""Generations as the control topic would know them, with no topic there."""

from datetime import UTC, datetime

from ops.generations.record import Generation, Generations, State

AT = datetime(2026, 3, 2, tzinfo=UTC)


def create_generations(*states: State) -> Generations:
    """Generations 1, 2 … in these states."""
    generations = Generations("inventory")
    for number, state in enumerate(states, start=1):
        generations = generations.plus(Generation("inventory", number, state, "0" * 64, AT, {}))
    return generations

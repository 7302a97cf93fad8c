"""The parameters that determine a world."""

import json
from dataclasses import asdict, dataclass
from typing import Literal

from generators.event import Dirt
from infra.settings import DEFAULT_SPEED, Settings

Refill = Literal["vans", "orders"]
"""The refill of shelves: by the simulator's vans, or by purchase orders."""

# Incremented with each change in the behaviour of a world of the same parameters.
RULES = 10

LOOK_ALIKES_PER_FRAUD, LOOK_ALIKE_RATE_MAX = 5, 0.05
OFTEN_RATE, SELDOM_RATE = 0.01, 0.0005
"""The usual shares of the events that are published twice or late, and with each other kind of
dirt."""
DIRT_RATE_MAX = 0.05
OVERSTOCK_SHARE = 0.02  # so that something sells too slowly from the first hour on


@dataclass(frozen=True)
class Parameters:
    """Two worlds with equal parameters hold the same events, at any pace.

    A world that is refilled by orders depends on their confirmations too.
    """

    seed: int
    stores: int
    products: int
    receipts_per_minute: float  # of world time, all stores together, mean of a week
    duplicate_rate: float = 0.0  # of the events on time
    late_rate: float = 0.0
    beyond_horizon_rate: float = 0.0
    future_rate: float = 0.0
    malformed_rate: float = 0.0
    unknown_schema_rate: float = 0.0
    broken_rule_rate: float = 0.0
    fraud_rate: float = 0.0  # frauds planned, per visit
    look_alike_rate: float = 0.0
    refill: Refill = "vans"
    overstock_share: float = 0.0  # of the products: stores open with too much of them

    def list_dirt_rates(self) -> dict[Dirt, float]:
        """The share of each kind of dirt in the events that move stock."""
        return {dirt: getattr(self, f"{dirt.name.lower()}_rate") for dirt in Dirt if dirt}

    def render(self) -> str:
        """The parameters and the rules' number as one canonical line of JSON."""
        return json.dumps({"rules": RULES, **asdict(self)}, sort_keys=True)

    def find_differences(self, text: str) -> tuple[str, str]:
        """The values that differ, here and in another world's text; empty if none does."""
        here, there = json.loads(self.render()), json.loads(text)
        names = [name for name in sorted(here | there) if here.get(name) != there.get(name)]
        return _render_values(names, here), _render_values(names, there)


def to_receipts_per_minute(per_second: float) -> float:
    """Receipts per minute of the world, of those per wall second at the default speed."""
    return per_second * 60 / DEFAULT_SPEED


def create_parameters(settings: Settings) -> Parameters:
    """The parameters in the settings.

    Receipts per second count at the default speed: another speed must not make another world.
    """
    often, seldom = (
        min(DIRT_RATE_MAX, rate * settings.simulator_dirt) for rate in (OFTEN_RATE, SELDOM_RATE)
    )
    return Parameters(
        seed=settings.simulator_seed,
        stores=settings.simulator_stores,
        products=settings.simulator_products,
        receipts_per_minute=to_receipts_per_minute(settings.simulator_receipts_per_second),
        duplicate_rate=often,
        late_rate=often,
        beyond_horizon_rate=seldom,
        future_rate=seldom,
        malformed_rate=seldom,
        unknown_schema_rate=seldom,
        broken_rule_rate=seldom,
        fraud_rate=settings.simulator_fraud_rate,
        look_alike_rate=min(
            LOOK_ALIKE_RATE_MAX, LOOK_ALIKES_PER_FRAUD * settings.simulator_fraud_rate
        ),
        refill=settings.refill,
        overstock_share=OVERSTOCK_SHARE,
    )


def _render_values(names: list[str], values: dict[str, float | str]) -> str:
    return ", ".join(f"{name} {values.get(name)}" for name in names)

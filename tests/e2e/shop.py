"""A whole shop, started by the bench, with the questions of tests."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from contracts import RECEIPTS
from contracts.validation import LATE
from infra.settings import Settings
from infra.wait import wait_until
from ops.bench import shops
from ops.cli import fleet
from ops.generations.folders import find_checkpoint
from ops.verify.ledger import DIRT
from ops.verify.served import fetch_views
from pipelines.engine.checkpoint import Checkpoint
from tests.ports import free_port_base

GROWTH_SECONDS_MAX = 400
BATCHES_SECONDS_MAX = 120
BOOKED = ("applied", "duplicate", "quarantined")
EVERY = str(Settings.model_fields["pipelines"].default)


class Shop(shops.Shop):
    """A shop of the bench, with the questions of tests."""

    def verify(self) -> dict[str, Any]:
        """The document of `retail verify`, by pipeline; raises unless all are exact."""
        report = json.loads(self.run_retail("verify", "--json"))
        assert report["exact"]
        assert report["pipelines"].keys() == set(self.settings.pipeline_names)
        return dict(report["pipelines"])

    def await_batches_after(self, batches: Mapping[str, int]) -> None:
        """Return when each of these pipelines serves a later batch than this one.

        A shop that was started is ready, and exact, before they have read again.
        """

        def serve_later() -> bool:
            return all(
                fetch_views(self.settings, name).batch > batch for name, batch in batches.items()
            )

        wait_until(serve_later, "each pipeline serves a later batch", BATCHES_SECONDS_MAX)

    def verify_grown(self) -> dict[str, Any]:
        """The same, once the world holds every kind of dirt and every view has rows."""
        verdicts: dict[str, Any] = {}

        def grown() -> bool:
            verdicts.update(self.verify())
            dirt = verdicts["inventory"]["ledger"]
            rows = [
                view["rows"] for verdict in verdicts.values() for view in verdict["views"].values()
            ]
            counts = [verdict["books"][kind] for verdict in verdicts.values() for kind in BOOKED]
            return all([*(dirt[kind] for kind in DIRT), *rows, *counts])

        self.too_late()  # before it comes, `verify` need not run
        wait_until(grown, "every kind of dirt, and rows in every view", GROWTH_SECONDS_MAX)
        return verdicts

    def too_late(self) -> dict[str, Any]:
        """A receipt that came beyond the horizon, once there is one, as the quarantine lists it."""
        late = f"/v1/quarantine?topic={RECEIPTS.name}&reason={LATE}&limit=1"
        late_ones: list[dict[str, Any]] = []

        def there() -> bool:
            with suppress(OSError):  # as long as the API is down
                late_ones.extend(self.get(late)["items"])
            return bool(late_ones)

        wait_until(there, "a receipt is too late", GROWTH_SECONDS_MAX)
        return late_ones[0]

    def states(self) -> dict[str, str]:
        """The state of each component by `retail status`, by name."""
        return {
            component.name: component.state for component in fleet.list_components(self.settings)
        }

    @property
    def checkpoint(self) -> Checkpoint:
        """The inventory's checkpoint."""
        return find_checkpoint(self.settings, "inventory", 1)

    def ready(self) -> bool:
        return set(self.states().values()) == {"ready"}


@contextmanager
def opened(folder: Path, seed: int, pipelines: str = EVERY, **others: Any) -> Iterator[Shop]:
    """A running shop in the world of this seed, fast and dirty, with these pipelines.

    `others`: settings that differ from those of a fast and dirty world.
    """
    opened = Shop(create_world(folder, seed, pipelines).model_copy(update=others))
    try:
        opened.start()
        yield opened
    finally:
        opened.stop()


def create_world(folder: Path, seed: int, pipelines: str) -> Settings:
    print(f"SIMULATOR_SEED={seed}")
    return Settings(
        data_dir=folder / "data",
        port_base=free_port_base(),
        simulator_seed=seed,
        pipelines=pipelines,
        lake=False,
        simulator_refill="vans",
        pipeline_seconds_per_batch_min=2,  # the cores are shared with other tests
        simulator_speed=120,  # two hours, the horizon, pass in a minute
        simulator_stores=6,
        simulator_products=400,
        simulator_receipts_per_second=1,  # at the default speed: 12/s at this one
        simulator_dirt=20,
        simulator_fraud_rate=0.005,
    )

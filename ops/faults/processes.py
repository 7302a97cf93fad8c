"""The processes that may be killed and paused, and what is promised then."""

from dataclasses import dataclass

from infra.supervisor.parts import ENGINE, PIPELINES, WORKER
from ops.faults.fault import Promise


@dataclass(frozen=True)
class Part:
    """A process that may be killed and paused, and what is promised then."""

    name: str
    is_: str
    stays: str
    answered: bool
    stale_seconds_max: float
    healed_seconds_max: float
    takes: frozenset[str] = frozenset()
    """The parts that end with it."""

    @property
    def promise(self) -> Promise:
        return Promise(self.stays, self.answered, self.stale_seconds_max, self.healed_seconds_max)


SPARK = frozenset({WORKER, ENGINE})

PARTS = (
    Part("broker", "Kafka", "views are served; nothing can be published", True, 120, 120),
    Part("simulator", "the simulator", "views are served; the world stands still", True, 60, 90),
    Part("clock", "the clock of an own world", "all goes on", True, 60, 90),
    Part("quarantine", "the quarantine", "views go on; rejected records wait", True, 60, 90),
    Part(
        PIPELINES,
        "the pipelines' supervisor",
        "views are served as they are",
        True,
        240,
        240,
        SPARK,
    ),
    Part(WORKER, "the pipelines' Python", "views are served as they are", True, 240, 240, SPARK),
    Part(ENGINE, "the pipelines' Spark", "views are served as they are", True, 240, 240),
    Part("ordering", "the ordering gate", "views go on; orders wait", True, 60, 120),
    Part("supplier", "the supplier", "views go on; confirmations wait", True, 60, 120),
    Part("subscriptions", "the sender", "views go on; notifications wait", True, 60, 90),
    Part("api", "the API", "the log grows and pipelines go on", False, 90, 90),
    Part("lake", "the lake", "views go on; the archive stands still", True, 60, 240),
)

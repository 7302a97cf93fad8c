"""The views that a generation carries, as the API stores them."""

from contracts import BOOKS, CONTRACTS, MARKERS, get_contract
from ops.generations.record import Generation
from services.api.store.tables import Table


class RetiredView(Exception):
    """A generation carries a view whose contract was removed from the code after its sunset."""

    def __init__(self, view: str, pipeline: str) -> None:
        super().__init__(
            f"its view {view} has no contract in this code any more. Have this code make its "
            f"successor: retail replay start {pipeline}, then retail replay promote {pipeline}"
        )


class Views:
    """The topics that carry a generation's views, and the tables of these views."""

    def __init__(self, generation: Generation) -> None:
        """Raises RetiredView."""
        for view in generation.views:
            if view not in CONTRACTS:
                raise RetiredView(view, generation.pipeline)
        self.prefix = f"{generation.pipeline}/{generation.number}"  # of its keys in shared topics
        topics = {**generation.outputs, BOOKS.name: BOOKS.name}
        self.by_topic = {topic: view for view, topic in topics.items()}
        self.tables = {view: Table(get_contract(view)) for view in topics}

    @property
    def topics(self) -> tuple[str, ...]:
        return MARKERS.name, *self.by_topic

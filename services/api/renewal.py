"""What a secure shop renews while its API runs: its own tokens, and the API's certificate."""

import ssl
from collections.abc import Callable

from infra.security.tokens import ensure_tokens
from infra.settings import Settings
from services.api.store.background import Background
from services.clock import get_wall_ms

COMPONENT = "api"
EVERY_SECONDS = 60.0
"""The longest that the shop is without one of its own tokens."""


class Renewal(Background):
    """A thread that renews. The context answers new connections with the new certificate."""

    def __init__(
        self,
        settings: Settings,
        context: ssl.SSLContext,
        find_wall_ms: Callable[[], int] = get_wall_ms,
    ) -> None:
        super().__init__("renewal")
        self._settings = settings
        self._context = context
        self._find_wall_ms = find_wall_ms

    def run_once(self) -> None:
        from infra.security.certificates import ensure_certificate  # here: others need no keys

        ensure_tokens(self._settings, self._find_wall_ms())
        self._context.load_cert_chain(ensure_certificate(self._settings, COMPONENT))
        self.clear_trouble()
        self.stopping.wait(EVERY_SECONDS)

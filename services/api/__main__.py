"""One process: the threads of the store, and the server that answers from it."""

import gc
import ssl
import sys
from collections.abc import Callable
from pathlib import Path

from infra.clock import get_wall_ms
from infra.logs import set_up_logging
from infra.security.tokens import ensure_tokens
from infra.settings import Settings, read_settings
from infra.token import read_token
from services.api.app import create_app, create_sources
from services.api.http.server import listen
from services.api.store.background import Background

COMPONENT = "api"
RENEWAL_SECONDS = 60.0
"""The longest that a secure shop is without one of its own tokens."""
SWITCH_SECONDS = 0.0003
"""How long a thread may keep Python's lock while another one waits for it; the default is 5 ms. An
answer takes the lock several times, and the threads of the store compute for much longer."""


def main() -> None:
    sys.setswitchinterval(SWITCH_SECONDS)
    current = read_settings()
    log = set_up_logging(COMPONENT)
    certificate = prepare(current)
    app = create_app(create_sources(current))
    # Otherwise Python looks through all modules, routes and models for garbage several times a
    # minute, for 150 ms in which no thread answers.
    gc.collect()
    gc.freeze()
    listening = listen(app, current.listen_host, current.api_port, certificate)
    log.info("answering on %s", current.api_url)
    if listening.context is not None:
        Renewal(current, listening.context).start()
    listening.run()


def prepare(current: Settings) -> Path | None:
    """Draw the shop's tokens in the data folder. With TLS, returns the file of the key and the
    certificate.
    """
    if not current.secure:
        read_token(current)
        return None
    from infra.security.certificates import ensure_certificate  # here: others need no keys

    ensure_tokens(current, get_wall_ms())
    return ensure_certificate(current, COMPONENT)


class Renewal(Background):
    """Renews a secure shop's tokens, and the certificate that new connections get."""

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
        self.stopping.wait(RENEWAL_SECONDS)


if __name__ == "__main__":
    main()

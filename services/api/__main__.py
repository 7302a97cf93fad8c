"""One process: the threads of the store, and the server that answers from it."""

import gc
import sys
from pathlib import Path

from infra.logs import set_up_logging
from infra.security.tokens import ensure_tokens
from infra.settings import Settings, read_settings
from infra.token import read_token
from services.api.app import create_app, create_sources
from services.api.http.server import listen
from services.api.renewal import COMPONENT, Renewal
from services.clock import get_wall_ms

CONNECTIONS_MAX = 512
"""Connections that are open at once. Each needs an open file."""
SWITCH_SECONDS = 0.0003
"""How long a thread may keep Python's lock while another one waits for it; the default is 5 ms. An
answer takes the lock several times, and the threads of the store compute for much longer."""


def main() -> None:
    sys.setswitchinterval(SWITCH_SECONDS)
    current = read_settings()
    log = set_up_logging(COMPONENT)
    certificate = prepare(current)
    app = create_app(create_sources(current))
    keep_for_good()
    listening = listen(app, current.listen_host, current.api_port, CONNECTIONS_MAX, certificate)
    log.info("answering on %s", current.api_url)
    if listening.context is not None:
        Renewal(current, listening.context).start()
    listening.run()


def keep_for_good() -> None:
    """Exempt everything that was made so far from garbage collection.

    These are the modules, the routes and their models. Otherwise Python looks through all of them
    several times a minute, for 150 ms in which no thread answers.
    """
    gc.collect()
    gc.freeze()


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


if __name__ == "__main__":
    main()

"""One process: the threads of the store, and the server that answers from it."""

import sys

from infra.logs import setup_logging
from infra.settings import read_settings
from infra.token import read_token
from services.api.app import create_app, create_sources
from services.api.http.server import listen

SWITCH_SECONDS = 0.0003
"""How long a thread may keep Python's lock while another one waits for it; by default 5 ms. An
answer takes the lock several times, and the threads of the store compute for much longer."""


def main() -> None:
    sys.setswitchinterval(SWITCH_SECONDS)
    current = read_settings()
    log = setup_logging("api")
    read_token(current)  # drawn by now, for whoever looks into the data folder for it
    app = create_app(create_sources(current))
    listening = listen(app, current.listen_host, current.api_port, current.api_connections_max)
    log.info("answering on %s", current.api_url)
    listening.run()


if __name__ == "__main__":
    main()

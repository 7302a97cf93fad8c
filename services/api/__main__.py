"""One process: the materializers' threads and the server that answers from what they keep."""

from infra.logs import setup_logging
from infra.settings import settings
from services.api.app import app, sources
from services.api.server import listen


def main() -> None:
    current = settings()
    log = setup_logging("api")
    listening = listen(app(sources(current)), current.listen_host, current.api_port)
    log.info("answering on %s", current.api_url)
    listening.run()


if __name__ == "__main__":
    main()

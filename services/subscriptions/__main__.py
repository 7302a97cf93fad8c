"""The process that finds changes for subscriptions and sends them."""

import sys

from services.process import run
from services.subscriptions.follower import serve_subscriptions

if __name__ == "__main__":
    sys.exit(run("subscriptions", serve_subscriptions))

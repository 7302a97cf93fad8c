"""A process of the supplier; several processes share the stores."""

import sys

from services.process import run
from services.supplier.follower import confirm_orders

if __name__ == "__main__":
    sys.exit(run("supplier", confirm_orders))

"""A Python that starts with this folder on its path shows the token in TOKEN_FILE wherever urllib
asks.
"""

import json
import os
from pathlib import Path
from urllib.request import build_opener, install_opener

opener = build_opener()
token = json.loads(Path(os.environ["TOKEN_FILE"]).read_text())["token"]
opener.addheaders.append(("Authorization", f"Bearer {token}"))
install_opener(opener)

"""What curl and Python need so that a secure shop answers them, whatever a command says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.security.files import locate_authority, make_folder, replace
from infra.security.tokens import Role, get_token, locate_token
from infra.settings import Settings, locate_root

CURL_FILE = ".curlrc"
CURL_SETTINGS = """\
proto-default = "https"
cacert = "{authority}"
header = "Authorization: Bearer {secret}"
"""


def write_curl_settings(settings: Settings, name: str, folder: Path) -> None:
    """Write the settings with which curl shows this token to the shop, for a CURL_HOME.

    Only their owner can read them. Raises NoToken.
    """
    token = get_token(settings, name)
    text = CURL_SETTINGS.format(authority=locate_authority(settings), secret=token.secret)
    make_folder(folder)
    replace(folder / CURL_FILE, text)


@contextmanager
def lend_credentials(settings: Settings) -> Iterator[dict[str, str]]:
    """Variables with which curl and Python's urllib ask a secure shop as its operator.

    There are none for another shop. The token is in files alone; curl's is removed after the block.
    """
    if not settings.secure:
        yield {}
        return
    with TemporaryDirectory() as folder:
        write_curl_settings(settings, Role.OPERATOR, Path(folder))
        yield {
            "CURL_HOME": folder,
            "SSL_CERT_FILE": str(locate_authority(settings)),
            "TOKEN_FILE": str(locate_token(settings, Role.OPERATOR)),
            "PYTHONPATH": f"{Path(__file__).with_name('with_token')}:{locate_root()}",
        }

"""What `retail up` suggests to try once everything is ready."""

import pytest

from cli.welcome import welcome
from infra.settings import Settings

NOBODY = "127.0.0.1:1"


def test_the_page_of_the_shop_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(api_address=NOBODY)
    welcome(settings)
    first = capsys.readouterr().out.strip().splitlines()[0]
    assert first.split() == ["Shop", f"{settings.api_url}/"]

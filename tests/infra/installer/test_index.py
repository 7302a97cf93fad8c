"""The index: what pip is set up for reaches uv, by variables."""

from pathlib import Path

import pytest

from infra.installer import Broken
from infra.installer.index import find_index, parse, translate
from infra.installer.install import Installer
from tests.infra.installer.local import forget_settings

MIRROR = "https://me:secret@mirror.example/simple"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forget_settings(monkeypatch, tmp_path)


@pytest.fixture
def pip_conf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where pip reads its settings from; a test writes the file."""
    file = tmp_path / "pip.conf"
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    return file


def test_of_a_machine_that_says_nothing_uv_is_told_nothing(tmp_path: Path) -> None:
    assert find_index(tmp_path).variables == {}


def test_the_index_of_pips_own_file_is_uvs(pip_conf: Path, tmp_path: Path) -> None:
    pip_conf.write_text(
        f"[global]\nindex-url = {MIRROR}\ncert = /etc/corporate.pem\ntimeout = 90\n"
    )
    variables = find_index(tmp_path).variables
    assert variables["UV_INDEX_URL"] == MIRROR
    assert variables["SSL_CERT_FILE"] == "/etc/corporate.pem"
    assert variables["UV_HTTP_TIMEOUT"] == "90"


def test_a_variable_of_pip_counts_more_than_its_file(
    monkeypatch: pytest.MonkeyPatch, pip_conf: Path, tmp_path: Path
) -> None:
    pip_conf.write_text("[install]\nindex-url = https://other.example/simple\n")
    monkeypatch.setenv("PIP_INDEX_URL", MIRROR)
    assert find_index(tmp_path).variables["UV_INDEX_URL"] == MIRROR


def test_what_is_set_up_for_other_commands_of_pip_does_not_count() -> None:
    assert parse("list.format='json'\nglobal.proxy='http://proxy.example:3128'\n") == {
        "proxy": "http://proxy.example:3128"
    }


def test_several_indexes_are_asked_as_pip_asks_them() -> None:
    translated = translate({"extra-index-url": "\nhttps://one.example/\nhttps://two.example/"})
    assert translated.variables == {
        "UV_EXTRA_INDEX_URL": "https://one.example/ https://two.example/",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_a_folder_of_packages_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    translated = translate({"find-links": f"{tmp_path}/nothing {tmp_path} https://one.example/"})
    assert translated.variables == {"UV_FIND_LINKS": f"{tmp_path},https://one.example/"}


def test_without_an_index_uv_asks_none() -> None:
    assert translate({"no-index": "true"}).options == ("--no-index",)
    assert translate({"no-index": "false"}).options == ()


def test_a_variable_of_uv_counts_more_than_what_pip_is_set_up_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "https://other.example/simple")
    uv = Installer(Path("uv"), translate({"index-url": MIRROR, "timeout": "90"}))
    assert uv.environment()["UV_INDEX_URL"] == "https://other.example/simple"
    assert uv.environment()["UV_HTTP_TIMEOUT"] == "90"


def test_an_address_with_a_password_is_no_argument() -> None:
    uv = Installer(Path("uv"), translate({"index-url": MIRROR}))
    assert "secret" not in " ".join(uv.command("pip", "sync"))


def test_a_setting_that_pip_cannot_read_is_told(pip_conf: Path, tmp_path: Path) -> None:
    pip_conf.write_text("index-url = without a section\n")
    with pytest.raises(Broken, match=r"pip says\n(.|\n)*pip\.conf"):
        find_index(tmp_path)

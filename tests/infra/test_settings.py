from pathlib import Path

import pytest

from infra.errors import UserError
from infra.settings import Settings, load_remembered, read_settings, remember, select_memorable
from infra.settings_table import DOCUMENT, render_document


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))


def test_one_variable_moves_every_port(monkeypatch: pytest.MonkeyPatch) -> None:
    for base, moved in (("", (8000, 9092, 9093)), ("8100", (8100, 9192, 9193))):
        monkeypatch.setenv("PORT_BASE", base)
        ours = Settings()
        assert (ours.api_port, ours.broker_port, ours.controller_port) == moved


def test_a_remote_kafka_replaces_the_embedded_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "kafka.example:9093")
    remote = Settings()
    assert not remote.broker_embedded
    assert remote.bootstrap_servers == "kafka.example:9093"


def test_a_moved_folder_keeps_its_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    remember(Settings(data_dir=before, port_base=8200, simulator_stores=3))
    before.rename(after)
    monkeypatch.setenv("DATA_DIR", str(after))
    assert Settings().port_base == 8200
    monkeypatch.setenv("PORT_BASE", "8300")
    moved = Settings()
    assert (moved.data_dir, moved.port_base, moved.simulator_stores) == (after, 8300, 3)


def test_a_password_is_never_written(tmp_path: Path) -> None:
    secret = Settings.model_validate({"data_dir": tmp_path, "kafka_sasl_password": "hush"})
    remember(secret)
    assert "hush" not in (tmp_path / "settings.json").read_text()
    assert "hush" not in repr(secret)
    assert "kafka_sasl_password" not in select_memorable(secret)


def test_who_a_process_is_is_not_remembered(tmp_path: Path) -> None:
    remember(Settings(data_dir=tmp_path, secure=True, kafka_service="api"))
    assert (Settings().secure, Settings().kafka_service) == (True, "operator")
    assert Settings().as_service("lake").kafka_service == "lake"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KAFKA_BOOTSTRAP_SERVERS", "kafka.example:9093"),
        ("BROKER_VOTERS", "1@one:9093,2@two:9093"),
        ("KAFKA_BOOTSTRAP_SERVERS", "kafka:9094,other:9094"),
        ("BROKER_ADDRESS", "broker:9094"),
        ("API_ADDRESS", "api:8000"),
        ("SPARK_MASTER", "spark://spark:7077"),
        ("DATA_DIR", "/tmp/a:b"),
    ],
)
def test_what_would_not_be_protected_is_refused_with_secure(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    read_settings.cache_clear()
    assert not read_settings().secure
    read_settings.cache_clear()
    monkeypatch.setenv("SECURE", "on")
    monkeypatch.setenv("SHOP_HOSTS", "kafka,web")
    with pytest.raises(UserError, match=rf"SECURE(.|\n)*{name}|{name}(.|\n)*SECURE"):
        read_settings()


def test_what_certificates_name_is_taken_with_secure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECURE", "on")
    monkeypatch.setenv("SHOP_HOSTS", "kafka,web")
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "kafka:9094,127.0.0.1:9092")
    monkeypatch.setenv("BROKER_ADDRESS", "kafka:9094")
    monkeypatch.setenv("API_ADDRESS", "web:8000")
    read_settings.cache_clear()
    assert read_settings().hosts == ("localhost", "127.0.0.1", "::1", "kafka", "web")
    monkeypatch.delenv("SHOP_HOSTS")
    read_settings.cache_clear()
    names = "KAFKA_BOOTSTRAP_SERVERS, BROKER_ADDRESS, API_ADDRESS"
    with pytest.raises(UserError, match=rf"SHOP_HOSTS.* {names} names another one"):
        read_settings()


def test_a_wrong_value_is_named_with_what_was_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT_BASE", "eighty")
    with pytest.raises(UserError, match=r"PORT_BASE: .*integer.*found 'eighty'"):
        read_settings()


def test_a_remembered_file_that_does_not_parse_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(UserError, match=r"does not parse.*Remove it"):
        load_remembered(tmp_path)


def test_the_document_of_settings_is_the_one_that_is_generated() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == render_document()

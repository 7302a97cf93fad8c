"""Settings: read once, from the environment, into one frozen object.

A value comes from the first of these that has it: the environment, the settings that `retail up`
remembered in the data folder, the default in this file.
"""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from infra.errors import UserError

HOST = "127.0.0.1"
THIS_MACHINE = ("localhost", HOST, "::1")
"""The names of this machine to itself."""
SIMULATED, OWN = "simulated", "own"
REMEMBERED_FILE = "settings.json"
BROKER, PIPELINES, SIMULATOR = "broker", "pipelines", "simulator"
REORDER = "reorder"
"""The pipeline whose proposals become orders."""
LAKE, REPORTS, SECURITY = "lake", "reports", "security"
"""The folders of a data folder that more than one part of this project finds."""
OPERATOR = "operator"
"""The user as which a person's commands log in to a secure Kafka; it may do everything."""
OTHERS = 0o077
"""The permissions of everybody but the owner."""
ADDRESSES = ("kafka_bootstrap_servers", "broker_address", "api_address")
"""Settings that may name another host."""
UNQUOTABLE = re.compile(r"[:{}\"\\]")


def locate_root() -> Path:
    """The folder of the repository."""
    return Path(__file__).resolve().parent.parent


DEFAULT_SPEED = 10.0
"""Seconds of world time per second of wall time, at which the simulator's rate applies."""


class Settings(BaseSettings):
    """Everything that can differ between two runs of the same code."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    port_base: int = Field(
        8000,
        ge=1024,
        le=60_000,
        description="API port; the broker listens on it + 1092, its controller on it + 1093",
    )
    data_dir: Path = Field(
        locate_root() / "data",
        description="everything that `retail reset` removes: topics, checkpoints, logs",
    )
    spark_tuning: str = Field(
        "on",
        pattern=r"^[a-z]+(,[a-z]+)*$",
        description="on; off: stock Spark with public options, slower, with the same answers; or "
        "some pieces of `pipelines/engine/tuning` by name",
    )
    store_url: str | None = Field(
        None,
        pattern=r"^(file://|s3a:/)/[^/]",
        description="file:///… or s3a://…: where `checkpoints` and `lake` are; unset: in "
        "`DATA_DIR`",
    )
    jars_dir: Path = Field(
        locate_root() / ".jars", description="verified jars of the broker and of Spark"
    )
    listen_host: str = Field(
        HOST, description="address that the API and the embedded broker listen on"
    )
    broker_address: str | None = Field(
        None,
        pattern=r"^[^:]+:[0-9]+$",
        description="host:port where other machines find the embedded broker; unset: nowhere",
    )
    broker_voters: str | None = Field(
        None,
        pattern=r"^[0-9]+@[^:,]+:[0-9]+(,[0-9]+@[^:,]+:[0-9]+)*$",
        description="id@host:port,… of every broker of the cluster; this one is at the host "
        "of `BROKER_ADDRESS`; unset: it is alone",
    )
    api_address: str | None = Field(
        None,
        pattern=r"^[^:]+:[0-9]+$",
        description="host:port where commands ask the API; unset: on this machine",
    )

    kafka_bootstrap_servers: str | None = Field(
        None, description="host:port,… of a remote Kafka; unset: an embedded broker is started"
    )
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = Field(
        None, description="how to log in to a remote Kafka, by TLS; unset: not at all"
    )
    kafka_sasl_username: str | None = Field(None, description="with a mechanism: who logs in")
    kafka_sasl_password: SecretStr | None = Field(
        None, description="with a mechanism: the password; never written to disk"
    )
    kafka_ssl_ca_location: Path | None = Field(
        None,
        description="PEM file of the authority of a remote Kafka that talks TLS; unset: with a "
        "mechanism the system's, else no TLS",
    )
    secure: bool = Field(
        False,
        description="whether Kafka and the API ask for TLS and for who is there: docs/security.md",
    )
    shop_hosts: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9.-]+(,[A-Za-z0-9.-]+)*$",
        description="hosts of this shop beside this machine, as broker,api: the API answers to "
        "these names, and with SECURE certificates are for them",
    )
    kafka_service: str = Field(
        OPERATOR,
        pattern=r"^[a-z]+(-[a-z]+)*$",
        description="with SECURE: as whom a process logs in; its process manager sets it",
    )
    kafka_replication_factor: int = Field(
        1, ge=1, le=15, description="copies of every partition; 3 wherever there are three brokers"
    )

    spark_master: str = Field(
        "local[4]",
        description="where Spark runs; more task slots than cores keep small batches short",
    )
    spark_driver_memory: str = Field(
        "2g", pattern=r"^[1-9][0-9]*[mg]$", description="heap of the Spark driver"
    )
    pipelines: str = Field(
        "inventory,fraud,reorder,pricing,analytics,visits",
        pattern=r"^[a-z]+(,[a-z]+)*$",
        description="which pipelines run, in one Spark",
    )
    pipeline_records_per_batch_max: int = Field(
        400_000,
        ge=1,
        le=10_000_000,
        description="records that a pipeline which catches up reads at a time; inventory twice as "
        "many",
    )
    pipeline_seconds_per_batch_min: float = Field(
        0.0,
        ge=0.0,
        le=60.0,
        description="least seconds between the starts of two live batches; more leave cores",
    )

    lake: bool = Field(
        True,
        description="whether the lake runs: all public topics as Delta tables, by a second Spark",
    )

    pseudonyms: bool = Field(
        False,
        description="whether customers and cards get pseudonyms before their events are published, "
        "so that `retail forget` can erase a person; from the first event on, or never",
    )

    world: str = Field(
        SIMULATED,
        description="simulated; or own: no simulator, sales come from files and clients, and time "
        "is the wall clock's; or the day on which such a world begins, as 2010-12-01: its time is "
        "that of what is loaded",
    )

    simulator_seed: int = Field(1, ge=0, description="the same seed gives the same events")
    simulator_speed: float = Field(
        DEFAULT_SPEED,
        ge=0.001,
        le=100_000,
        description="seconds of world time per second of wall time",
    )
    simulator_stores: int = Field(12, ge=1, le=10_000, description="stores in the world")
    simulator_products: int = Field(800, ge=1, le=100_000, description="products in the catalog")
    simulator_receipts_per_second: float = Field(
        20.0,
        gt=0,
        le=100_000,
        description="receipts per wall second at the default speed, mean of a week; "
        "another speed paces the same world",
    )
    simulator_dirt: float = Field(
        1.0,
        ge=0,
        le=100,
        description="how many times the usual share of events is published twice, late, ahead, cut "
        "short, with an unknown schema or a broken rule, at most 5 % of each kind; 0: all are good",
    )
    simulator_fraud_rate: float = Field(
        0.0002,
        ge=0,
        le=0.05,
        description="frauds planned per visit, of all six kinds together; five times as many "
        "incidents, at most 0.05, only look like fraud",
    )
    simulator_refill: Literal["vans", "orders"] | None = Field(
        None,
        description="who fills the shelves: the simulator's vans, or purchase orders; unset: "
        "orders where reorder runs",
    )
    simulator_disk_gib_max: float = Field(
        20.0, gt=0, description="GiB that the data folder may hold; then the world stands still"
    )

    @field_validator("data_dir", "jars_dir", "kafka_ssl_ca_location")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        # Components run in another working directory, and two names of one folder are one world.
        return path.expanduser().resolve() if path else None

    @field_validator("world")
    @classmethod
    def _moment(cls, text: str) -> str:
        try:
            return text if text in (SIMULATED, OWN) else _parse_utc(text).isoformat()
        except ValueError:
            raise ValueError("expected simulated, own, or a day as 2010-12-01") from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (
            init_settings,
            env_settings,
            _add_remembered(settings_cls, init_settings, env_settings),
        )

    @property
    def api_port(self) -> int:
        return self.port_base

    @property
    def broker_port(self) -> int:
        return self.port_base + 1092

    @property
    def controller_port(self) -> int:
        return self.port_base + 1093

    @property
    def api_url(self) -> str:
        scheme = "https" if self.secure else "http"
        return f"{scheme}://{self.api_address or f'{HOST}:{self.api_port}'}"

    @property
    def broker_embedded(self) -> bool:
        """Whether this project runs the broker itself."""
        return self.kafka_bootstrap_servers is None

    @property
    def bootstrap_servers(self) -> str:
        """Where Kafka answers, embedded or remote."""
        return self.kafka_bootstrap_servers or f"{HOST}:{self.broker_port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the shop: the API answers to these names, and certificates are for them."""
        named = self.shop_hosts.split(",") if self.shop_hosts else ()
        return (*THIS_MACHINE, *named)

    def as_service(self, name: str) -> Self:
        """The settings for a part of this process that logs in to Kafka under this name."""
        return self.model_copy(update={"kafka_service": name})

    @property
    def is_simulated(self) -> bool:
        return self.world == SIMULATED

    @property
    def pipeline_names(self) -> tuple[str, ...]:
        return tuple(self.pipelines.split(","))

    @property
    def refill(self) -> Literal["vans", "orders"]:
        """Who fills the shelves of a simulated world."""
        return self.simulator_refill or ("orders" if REORDER in self.pipeline_names else "vans")

    @property
    def begins_ms(self) -> int | None:
        """When an own world begins, in epoch milliseconds; None: its time is the wall clock's."""
        if self.world in (SIMULATED, OWN):
            return None
        return round(_parse_utc(self.world).timestamp() * 1000)

    @property
    def broker_dir(self) -> Path:
        """The folder of the embedded broker, and in it the log."""
        return self.data_dir / BROKER

    @property
    def logs_dir(self) -> Path:
        return self.data_dir / "logs"


@cache
def read_settings() -> Settings:
    """The settings of this process, read at the first call.

    With SECURE, what the process and its children write from then on is their user's alone.
    Raises UserError, which lists each wrong variable with what was expected and found.
    """
    try:
        current = Settings()
    except ValidationError as error:
        raise UserError(_describe_error(error)) from error
    refuse_half_secure(current)
    if current.secure:
        os.umask(OTHERS)
    return current


def refuse_half_secure(current: Settings) -> None:
    """Raise UserError if SECURE would protect only a part of the shop."""
    if not current.secure:
        return
    if beyond := list(_find_unprotected(current)):
        raise UserError(
            f"SECURE protects this machine and the hosts in SHOP_HOSTS, with one broker and with "
            f"Spark on one machine, but {', '.join(beyond)} names another one. Unset it, or leave "
            "SECURE off."
        )
    if UNQUOTABLE.search(str(current.data_dir)):
        raise UserError(
            "DATA_DIR: with SECURE, Kafka's clients are told where passwords are, in a form that "
            f"takes no colon, brace or quote, found {str(current.data_dir)!r}. Choose another one."
        )


def _find_unprotected(current: Settings) -> Iterator[str]:
    """The variables that lead to a host that no certificate of the shop names, or to a cluster."""
    for name in ADDRESSES:
        addresses = (getattr(current, name) or HOST).split(",")
        if {address.split(":")[0] for address in addresses} - {*current.hosts}:
            yield name.upper()
    if current.broker_voters is not None:
        yield "BROKER_VOTERS"
    if not current.spark_master.startswith("local"):
        yield "SPARK_MASTER"


def remember(current: Settings) -> None:
    """Remember the values that differ from the defaults, so that later commands need not repeat
    them.
    """
    current.data_dir.mkdir(parents=True, exist_ok=True)
    if current.secure:
        current.data_dir.chmod(0o777 & ~OTHERS)  # it may have been there before
    target = current.data_dir / REMEMBERED_FILE
    draft = target.with_suffix(".new")
    draft.write_text(json.dumps(select_memorable(current), indent=2, sort_keys=True) + "\n")
    os.replace(draft, target)


def select_memorable(current: Settings) -> dict[str, Any]:
    """The settings to remember: without secrets, the data folder, and the process's service."""
    return current.model_dump(
        mode="json",
        exclude_defaults=True,
        exclude={"data_dir", "kafka_sasl_password", "kafka_service"},
    )


def load_remembered(folder: Path) -> dict[str, Any]:
    """The settings that the last start in the data folder remembered; empty before the first."""
    file = folder / REMEMBERED_FILE
    try:
        return dict(json.loads(file.read_text()))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise UserError(
            f"{file} should hold remembered settings as JSON, but does not parse: {error}. "
            "Remove it; the next `make up` writes it anew."
        ) from error


def _add_remembered(
    settings_cls: type[BaseSettings], *sources: PydanticBaseSettingsSource
) -> PydanticBaseSettingsSource:
    named = next((value for source in sources if (value := source().get("data_dir"))), None)
    folder = Path(named or settings_cls.model_fields["data_dir"].default).expanduser()
    return InitSettingsSource(settings_cls, init_kwargs=load_remembered(folder))


def _parse_utc(text: str) -> datetime:
    """A day or a moment in ISO 8601; without an offset it is in UTC."""
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _describe_error(error: ValidationError) -> str:
    return "\n".join(
        f"{str(found['loc'][0]).upper()}: {found['msg']}, found {found['input']!r}. "
        "Set it in the environment, or unset it for the default."
        for found in error.errors(include_url=False)
    )

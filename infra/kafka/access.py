"""Users and permissions of a secure broker."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from infra.kafka.clients import create_admin
from infra.kafka.offsets import REQUEST_SECONDS_MAX
from infra.security.passwords import draw_password
from infra.settings import Settings
from infra.wait import wait_until

EVERYBODY = "*"
"""Every logged-in user."""
ITERATIONS = 8_192
"""The number of times that a password is hashed."""

EVERY_PERMISSION = AclBindingFilter(
    ResourceType.ANY,
    None,  # type: ignore[arg-type]  # its documentation: any
    ResourcePatternType.ANY,
    None,  # type: ignore[arg-type]
    None,  # type: ignore[arg-type]
    AclOperation.ANY,
    AclPermissionType.ANY,
)


class Grant(NamedTuple):
    """A permission of a service. The broker refuses everything else."""

    service: str
    operation: AclOperation
    kind: ResourceType
    name: str
    is_prefix: bool = False
    """Whether the grant holds for all names that begin with this one."""


def set_users(settings: Settings, services: Iterable[str]) -> None:
    """Let each service log in with the password in its file; draw missing passwords.

    Raises KafkaException.
    """
    client = create_admin(settings)
    secret = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS)
    altered = client.alter_user_scram_credentials(
        [
            UserScramCredentialUpsertion(name, secret, draw_password(settings, name).encode())
            for name in services
        ],
        request_timeout=REQUEST_SECONDS_MAX,
    )
    for future in altered.values():
        future.result(REQUEST_SECONDS_MAX)


def set_grants(settings: Settings, grants: Collection[Grant]) -> None:
    """Set exactly these grants in the broker, and wait until they hold. Raises KafkaException."""
    client = create_admin(settings)
    wanted = {_to_binding(grant) for grant in grants}

    def read() -> set[AclBinding]:
        found = client.describe_acls(EVERY_PERMISSION, request_timeout=REQUEST_SECONDS_MAX)
        return set(found.result(REQUEST_SECONDS_MAX))

    there = read()
    if missing := sorted(wanted - there):
        for future in client.create_acls(missing, request_timeout=REQUEST_SECONDS_MAX).values():
            future.result(REQUEST_SECONDS_MAX)
    if surplus := [_to_filter(binding) for binding in sorted(there - wanted)]:
        for future in client.delete_acls(surplus, request_timeout=REQUEST_SECONDS_MAX).values():
            future.result(REQUEST_SECONDS_MAX)
    wait_until(lambda: read() == wanted, "the broker knows who may do what")


def _to_binding(grant: Grant) -> AclBinding:
    return AclBinding(
        grant.kind,
        grant.name,
        ResourcePatternType.PREFIXED if grant.is_prefix else ResourcePatternType.LITERAL,
        f"User:{grant.service}",
        "*",
        grant.operation,
        AclPermissionType.ALLOW,
    )


def _to_filter(binding: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        binding.restype,
        binding.name,
        binding.resource_pattern_type,
        binding.principal,
        binding.host,
        binding.operation,
        binding.permission_type,
    )

"""The properties of a secure broker: TLS, passwords, and permissions, denied unless granted."""

from infra.security.files import locate_authority, locate_certificate
from infra.security.passwords import BROKER, MECHANISM, read_password
from infra.settings import OPERATOR, Settings

LISTENER = "SASL_SSL"
"""The listener of clients, and of the broker as a client of itself."""
NETWORK = "NETWORK"
"""The listener of clients on other hosts."""
PROTOCOLS = "TLSv1.3,TLSv1.2"
LOGIN_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


def build_secure_properties(settings: Settings) -> dict[str, str]:
    """The additional properties of a secure broker.

    Clients log in with a password. The broker reaches its own controller with its certificate.
    They hold a password, so only their owner may read the file with them. Paths are relative to the
    broker's folder.
    """
    home = settings.data_dir
    certificate = locate_certificate(settings, BROKER).relative_to(home)
    authority = locate_authority(settings).relative_to(home)
    password = read_password(settings, BROKER)
    return {
        "listener.security.protocol.map": (
            f"{LISTENER}:SASL_SSL,{NETWORK}:SASL_SSL,CONTROLLER:SSL"
        ),
        "inter.broker.listener.name": LISTENER,
        "sasl.enabled.mechanisms": MECHANISM,
        "sasl.mechanism.inter.broker.protocol": MECHANISM,
        name_login(LISTENER): f'{LOGIN_MODULE} required username="{BROKER}" password="{password}";',
        name_login(NETWORK): f"{LOGIN_MODULE} required;",
        "ssl.enabled.protocols": PROTOCOLS,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": f"../{certificate}",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": f"../{authority}",
        "listener.name.controller.ssl.client.auth": "required",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        # Its certificate names it to the controller, its password to the listener of clients.
        "super.users": f"User:{BROKER};User:CN={BROKER};User:{OPERATOR}",
    }


def name_login(listener: str) -> str:
    """The property that says how clients of the listener log in, and the broker, if it is one."""
    return f"listener.name.{listener.lower()}.{MECHANISM.lower()}.sasl.jaas.config"

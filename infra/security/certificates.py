"""The data folder's own authority, the certificates that it signs, and what of a secure shop ends
soon.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from infra.clock import get_today
from infra.security.files import (
    locate_authority,
    locate_certificate,
    locate_security_folder,
    make_folder,
    replace,
    write_once,
)
from infra.security.passwords import BROKER, FIRST_USERS, draw_password
from infra.security.tokens import End, Role, list_tokens
from infra.settings import Settings

AUTHORITY_DAYS = 36_500  # longer than anybody keeps a log: nothing renews it
CERTIFICATE_DAYS = 365
DAYS_LEFT_MIN = 30
"""A start renews a certificate with fewer days left."""
AUTHORITY = "retail authority"
TOKEN_DAYS_LEFT_MIN = 7
RENEWS_ITSELF = "api"
"""The component that takes a new certificate while it runs."""


def ensure_certificate(settings: Settings, component: str) -> Path:
    """The component's key and certificate, for the shop's hosts; returns their file.

    The first call makes them, and the authority, if there is none. A call within DAYS_LEFT_MIN of
    the end, or with other hosts, renews the certificate. The common name is the component's name.
    """
    file = locate_certificate(settings, component)
    if not file.exists() or not _is_good(file, settings):
        _issue(settings, component)
    return file


def ensure_keys(settings: Settings) -> None:
    """Make the broker's certificate and the first users' passwords, where they are missing."""
    ensure_certificate(settings, BROKER)
    for user in FIRST_USERS:
        draw_password(settings, user)


def list_ends(settings: Settings) -> Iterator[End]:
    """The ends of all tokens and certificates that the shop does not renew by itself."""
    for token in list_tokens(settings):
        if token.name not in {*Role}:
            remedy = f"retail security token add {token.name} --role {token.role}"
            yield End("token", token.name, token.expires_at_ms, TOKEN_DAYS_LEFT_MIN, remedy)
    for file in sorted(locate_certificate(settings, "").parent.glob("*.pem")):
        if file.stem != RENEWS_ITSELF:
            at_ms = round(datetime.combine(_read_last_day(file), time(), UTC).timestamp() * 1000)
            yield End("certificate", file.stem, at_ms, DAYS_LEFT_MIN, "make down && make up")


def _issue(settings: Settings, component: str) -> None:
    """Make a key and a certificate for the component, in place of an earlier pair."""
    pair = locate_security_folder(settings) / "authority-key.pem"
    if not pair.exists():
        make_folder(pair.parent)
        write_once(pair, _make_authority())
    authority = x509.load_pem_x509_certificate(pair.read_bytes())
    # For clients, without the key.
    replace(locate_authority(settings), authority.public_bytes(Encoding.PEM).decode())
    file = locate_certificate(settings, component)
    make_folder(file.parent)
    signer = load_pem_private_key(pair.read_bytes(), password=None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey), "the authority's key is made here"
    replace(file, _make_certificate(component, _name_hosts(settings), authority, signer))


def _make_authority() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _create_name(AUTHORITY)
    made = (
        _begin(name, name, key.public_key(), AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_create_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return _encode_pem(key, made)


def _make_certificate(
    component: str,
    hosts: x509.SubjectAlternativeName,
    authority: x509.Certificate,
    signer: ec.EllipticCurvePrivateKey,
) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    # The broker is a client of its own controller, with this certificate.
    uses = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    made = (
        _begin(_create_name(component), authority.subject, key.public_key(), CERTIFICATE_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_create_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        .add_extension(hosts, critical=False)
        .add_extension(issuer, critical=False)
        .sign(signer, hashes.SHA256())
    )
    return _encode_pem(key, made)


def _begin(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, days: int
) -> x509.CertificateBuilder:
    start = datetime.combine(get_today(), time(), UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start - timedelta(days=1))  # for clients with a slow clock
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _create_name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _name_hosts(settings: Settings) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([_name_host(host) for host in settings.hosts])


def _name_host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _create_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _encode_pem(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> str:
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return (secret + certificate.public_bytes(Encoding.PEM)).decode()


def _read_last_day(file: Path) -> date:
    return x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc.date()


def _is_good(file: Path, settings: Settings) -> bool:
    """Whether the certificate names the shop's hosts and is not near its end."""
    found = x509.load_pem_x509_certificate(file.read_bytes())
    hosts = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    days_left = (_read_last_day(file) - get_today()).days
    return hosts == _name_hosts(settings) and days_left >= DAYS_LEFT_MIN

"""One check for each cause by which a first start can fail; each says what to do."""

from collections.abc import Iterator
from dataclasses import dataclass

from infra import java
from infra.bootstrap import PYTHON_MIN
from infra.doctor.probes import Probes
from infra.settings import Settings

GIB = 1024**3
MEMORY_MIN_BYTES = 4 * GIB  # Spark 2.4, its Python 0.5, broker 0.3, the rest 0.4, and some room
DISK_MIN_BYTES = 2 * GIB  # an hour of the default pace, with its checkpoints
PORT_STEP = 100


@dataclass(frozen=True)
class Finding:
    """The result of a check. With a remedy, a start needs the remedy first."""

    check: str
    found: str
    remedy: str = ""
    ours: bool = False  # the port's holder is a component of this folder

    @property
    def good(self) -> bool:
        return not self.remedy

    def __str__(self) -> str:
        return f"{self.found}. {self.remedy}" if self.remedy else self.found


def run_checks(probes: Probes, settings: Settings) -> Iterator[Finding]:
    """Run every check, in the order in which a start would fail on them."""
    yield check_python(probes)
    yield check_environments(probes)
    yield make(probes)
    yield check_java(probes)
    yield check_data_folder(probes, settings)
    yield check_disk(probes, settings)
    yield refill(settings)
    listening = list(check_ports(probes, settings))
    yield check_memory(probes, already_used=any(finding.ours for finding in listening))
    yield from listening


def refill(settings: Settings) -> Finding:
    if settings.simulator_refill == "vans" or "reorder" in settings.pipeline_names:
        return Finding("refill", f"shelves filled by {settings.simulator_refill}")
    return Finding(
        "refill",
        "shelves filled by orders, and no pipeline that proposes any",
        f"They would run empty. Add it: PIPELINES={settings.pipelines},reorder",
    )


def check_python(probes: Probes) -> Finding:
    version = probes.read_python_version()
    wanted = ".".join(map(str, PYTHON_MIN))
    found = "Python " + ".".join(map(str, version))
    if version >= PYTHON_MIN:
        return Finding("python", found)
    return Finding(
        "python",
        found,
        f"Python {wanted} or newer is needed. Install one, or name it: make up PYTHON=python3.11",
    )


def check_environments(probes: Probes) -> Finding:
    if probes.has_module("venv") and probes.has_module("ensurepip"):
        return Finding("venv", "modules venv and ensurepip")
    major, minor, _ = probes.read_python_version()
    return Finding(
        "venv",
        "no modules venv and ensurepip",
        "Python cannot make environments without them. Install them: "
        f"sudo apt-get install python{major}.{minor}-venv",
    )


def make(probes: Probes) -> Finding:
    if probes.has_command("make"):
        return Finding("make", "make")
    return Finding(
        "make", "no make", "Install it (sudo apt-get install make), or use: retail --help"
    )


def check_java(probes: Probes) -> Finding:
    if probes.can_start_java():
        return Finding("java", f"Java {java.VERSION}")
    return Finding(
        "java",
        "the Java that comes with the environment does not start",
        f"It should run on this machine. What it says: {java.locate_java()} -version",
    )


def check_data_folder(probes: Probes, settings: Settings) -> Finding:
    folder = settings.data_dir
    if probes.is_writable(folder):
        return Finding("data folder", f"{folder} can be written")
    return Finding(
        "data folder",
        f"{folder} cannot be written",
        "Make it writable, or choose another: make up DATA_DIR=…",
    )


def check_disk(probes: Probes, settings: Settings) -> Finding:
    free = probes.measure_free_disk_bytes(settings.data_dir)
    found = f"{free / GIB:.1f} GiB free disk"
    if free >= DISK_MIN_BYTES:
        return Finding("disk", found)
    return Finding(
        "disk",
        found,
        f"{DISK_MIN_BYTES // GIB} GiB are needed where {settings.data_dir} is. Make room, or "
        "choose another folder: make up DATA_DIR=…",
    )


def check_memory(probes: Probes, already_used: bool) -> Finding:
    available = probes.measure_memory_bytes()
    found = f"{available / GIB:.1f} GiB free memory"
    if already_used or available >= MEMORY_MIN_BYTES:
        return Finding("memory", found)
    return Finding(
        "memory",
        found,
        f"{MEMORY_MIN_BYTES // GIB} GiB are needed for the broker and Spark. Close something "
        "large, or give the machine more",
    )


def check_ports(probes: Probes, settings: Settings) -> Iterator[Finding]:
    """Check the ports that this project listens on."""
    wanted = {"api": settings.api_port}
    if settings.broker_embedded:
        wanted |= {"broker": settings.broker_port, "controller": settings.controller_port}
    for use, port in wanted.items():
        yield check_port(probes, settings, use, port)


def check_port(probes: Probes, settings: Settings, use: str, port: int) -> Finding:
    check = f"port {port}"
    holder = probes.find_holder(port)
    if holder is None:
        return Finding(check, f"free, for the {use}")
    if holder.ours:
        return Finding(check, f"in use by the {use} of this folder (pid {holder.pid})", ours=True)
    who = f"{holder.name} (pid {holder.pid})" if holder.pid else holder.name
    return Finding(
        check,
        f"Port {port} is in use by {who}",
        f"Stop it, or choose others: make up PORT_BASE={free_base(probes, settings)}",
    )


def free_base(probes: Probes, settings: Settings) -> int:
    """The next PORT_BASE whose ports are all free now."""
    for base in range(settings.port_base + PORT_STEP, 60_000, PORT_STEP):
        moved = settings.model_copy(update={"port_base": base})
        if not any(map(probes.find_holder, (base, moved.broker_port, moved.controller_port))):
            return base
    return settings.port_base + PORT_STEP

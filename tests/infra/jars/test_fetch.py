"""The sets of jars: locked, and fetched whole or not at all."""

import hashlib
from pathlib import Path

import pytest
from jgo.env import LockFile
from jgo.env._lockfile import compute_spec_hash

from infra.errors import UserError
from infra.jars import fetch as fetching
from infra.jars import sets
from infra.jars.fetch import ATTEMPTS_MAX, fetch
from infra.jars.sets import LOCK_FILE, NAMES, SPEC_FILE, Jar, JarSet, Name, get_jar_set, load

HERE = Path(sets.__file__).parent


@pytest.mark.parametrize("name", NAMES)
def test_the_lock_is_of_this_specification(name: Name) -> None:
    lock = LockFile.load(HERE / name / LOCK_FILE)
    assert lock.spec_hash == compute_spec_hash(HERE / name / SPEC_FILE)


def test_the_class_paths_hold_different_kafka_clients() -> None:
    jars = [jar for name in NAMES for jar in get_jar_set(name).jars]
    assert len({jar.version for jar in jars if jar.artifact == "kafka-clients"}) == 2


def test_a_jar_without_a_checksum_is_refused(tmp_path: Path) -> None:
    bare = '[[dependencies]]\ngroupId = "g"\nartifactId = "a"\nversion = "1"\n'
    (tmp_path / LOCK_FILE).write_text(bare)
    with pytest.raises(UserError, match="names a without a SHA-256"):
        load(tmp_path)


def create_jar(artifact: str) -> Jar:
    return Jar("org.example", artifact, "1.0", hashlib.sha256(create_content(artifact)).hexdigest())


def create_content(artifact: str) -> bytes:
    return f"the classes of {artifact}".encode()


SET = JarSet("broker", tuple(map(create_jar, ("one", "two", "three"))))


class Shop:
    """A source that serves every jar, except those that a test spoils."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.spoiled: dict[str, bytes | Exception] = {}
        self.downloads = 0

    def locate_cached(self, jar: Jar) -> Path:
        return self.cache / jar.repository_path

    def download(self, jar: Jar, folder: Path) -> Path:
        self.downloads += 1
        served = self.spoiled.get(jar.artifact, create_content(jar.artifact))
        if isinstance(served, Exception):
            raise served
        folder.mkdir(parents=True)
        file = folder / "download"
        file.write_bytes(served)
        return file


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    shop = Shop(tmp_path)
    monkeypatch.setattr(fetching, "locate_cached", shop.locate_cached)
    monkeypatch.setattr(fetching, "download", shop.download)
    return shop


def list_files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.name != ".lock")


def test_jars_are_in_folder_and_cache_and_downloaded_once(shop: Shop, tmp_path: Path) -> None:
    files = fetch(SET, tmp_path / "jars")
    assert [file.name for file in files] == ["one-1.0.jar", "two-1.0.jar", "three-1.0.jar"]
    assert all(file.exists() for file in files)
    assert all(shop.locate_cached(jar).exists() for jar in SET.jars)
    fetch(SET, tmp_path / "jars")
    assert shop.downloads == 3


def test_a_damaged_jar_is_replaced_and_old_or_half_ones_go(shop: Shop, tmp_path: Path) -> None:
    damaged = fetch(SET, tmp_path / "jars")[0]
    damaged.write_bytes(b"half of")
    (tmp_path / "jars" / ".broker-killed" / "jars").mkdir(parents=True)
    fetch(JarSet("broker", SET.jars[:2]), tmp_path / "jars")
    assert damaged.read_bytes() == create_content("one")
    assert list_files(tmp_path / "jars" / "broker") == ["one-1.0.jar", "two-1.0.jar"]
    assert list_files(tmp_path / "jars") == ["broker"]


def test_a_spoiled_cache_is_not_trusted(shop: Shop, tmp_path: Path) -> None:
    spoiled = shop.locate_cached(SET.jars[0])
    spoiled.parent.mkdir(parents=True)
    spoiled.write_bytes(b"half of")
    fetch(SET, tmp_path / "jars")
    assert spoiled.read_bytes() == create_content("one")


def test_a_broken_download_leaves_nothing_and_says_what_to_do(shop: Shop, tmp_path: Path) -> None:
    for spoiled, reason in (
        (b"half of", "expected SHA-256"),
        (RuntimeError("connection broken"), "connection broken"),
        (OSError(28, "No space left on device"), "No space left"),
    ):
        shop.spoiled["two"] = spoiled
        with pytest.raises(UserError, match=rf"org\.example:two:1\.0(.|\n)*{reason}(.|\n)*again"):
            fetch(SET, tmp_path / "jars")
        assert list_files(tmp_path / "jars") == []
        assert not shop.locate_cached(SET.jars[1]).exists()


def test_a_broken_download_is_tried_so_often_and_harms_nothing(shop: Shop, tmp_path: Path) -> None:
    fetch(SET, tmp_path / "jars")
    shop.spoiled["four"] = b"half of"
    with pytest.raises(UserError, match="could not be fetched"):
        fetch(JarSet("broker", (*SET.jars, create_jar("four"))), tmp_path / "jars")
    assert shop.downloads == 3 + ATTEMPTS_MAX
    assert len(list_files(tmp_path / "jars" / "broker")) == 3

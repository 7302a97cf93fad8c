from pathlib import Path

import pytest
from jgo.env import LockFile
from jgo.env._lockfile import compute_spec_hash

from infra.errors import UserError
from infra.jars import sets
from infra.jars.sets import LOCK_FILE, NAMES, SPEC_FILE, Name, get_jar_set, load

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

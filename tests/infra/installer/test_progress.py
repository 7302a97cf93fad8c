"""The bar: what uv prints, in one line."""

from infra.installer.progress import BAR_WIDTH, Bar


def note_lines(*lines: str) -> Bar:
    bar = Bar()
    for line in lines:
        bar.note(f"{line}\n")
    return bar


DOWNLOADS = ("Resolved 3 packages in 1s", "Downloading one (1.0MiB)", "Downloading two (3.0MiB)")
DOWNLOADED = (*DOWNLOADS, " Downloaded two", " Downloaded one")


def test_at_first_nothing_is_done() -> None:
    assert str(note_lines("Using Python 3.11.7 environment at: .venv")).startswith("░" * BAR_WIDTH)


def test_a_download_moves_it_by_its_size() -> None:
    bar = str(note_lines(*DOWNLOADS, " Downloaded two"))
    assert bar.count("█") == (BAR_WIDTH - 1) * 3 // 4
    assert "3 of 4 MiB" in bar


def test_the_last_block_waits_for_the_installation() -> None:
    bar = str(note_lines(*DOWNLOADED))
    assert bar.count("█") == BAR_WIDTH - 1
    assert "MiB" not in bar


def test_what_is_built_is_named_while_it_lasts() -> None:
    building = (*DOWNLOADED, "   Building pyspark==4.2.0")
    assert str(note_lines(*building)).endswith("building pyspark==4.2.0")
    assert "building" not in str(note_lines(*building, "      Built pyspark==4.2.0"))


def test_what_is_installed_is_counted() -> None:
    bar = str(note_lines(*DOWNLOADED, "Installed 2 packages in 3ms", " + one==1", " + two==2"))
    assert bar == f"{'█' * BAR_WIDTH} 2 packages"

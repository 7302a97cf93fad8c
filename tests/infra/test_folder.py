from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from infra.folder import Folder, store
from infra.settings import HOST

LISTED = b"""<ListBucketResult><KeyCount>1</KeyCount><IsTruncated>false</IsTruncated>
<Contents><Key>shop/offsets/7</Key><Size>6</Size></Contents></ListBucketResult>"""
CONTENT = b"seven\n"


class Store(BaseHTTPRequestHandler):
    """What an object store says of a bucket with one object, as far as it is asked here."""

    def do_HEAD(self) -> None:
        self._answer(200, len(CONTENT))

    def do_GET(self) -> None:
        listing = "list-type=2" in self.path
        body = LISTED if listing else CONTENT
        self._answer(200 if listing else 206, len(body))
        self.wfile.write(body)

    def _answer(self, status: int, length: int) -> None:
        assert self.path.split("?")[0] in ("/bucket", "/bucket/shop/offsets/7")
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ThreadingHTTPServer((HOST, 0), Store) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{HOST}:{server.server_port}")
        monkeypatch.setenv("AWS_REGION", "eu-central-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
        store.cache_clear()
        yield
        store.cache_clear()
        server.shutdown()


@pytest.mark.parametrize(
    ("url", "address"),
    [("file:///srv/the%20lake/", "/srv/the lake"), ("s3a://bucket/lake", "s3a://bucket/lake")],
)
def test_its_address_is_what_every_engine_takes(url: str, address: str) -> None:
    assert str(Folder.of(url)) == address
    assert str(Folder.of(url) / "bronze") == f"{address}/bronze"
    assert (Folder.of(url) / "bronze").name == "bronze"


def test_what_lies_in_it_is_named_read_counted_and_removed(tmp_path: Path) -> None:
    (tmp_path / "a log" / "deeper").mkdir(parents=True)
    (tmp_path / "a log" / "7").write_text("seven\n")
    (tmp_path / "a log" / "deeper" / "8").write_text("eight\n")
    folder = Folder.of(tmp_path.as_uri()) / "a log"
    assert sorted(folder.list_names()) == ["7", "deeper"]
    assert folder.read("7") == "seven\n"
    assert folder.count_bytes() == 12
    for _ in range(2):
        folder.remove()
        assert [file.name for file in tmp_path.iterdir()] == []
        assert folder.list_names() == []
        assert folder.count_bytes() == 0
        with pytest.raises(FileNotFoundError):
            folder.read("7")


def test_an_object_store_is_where_the_environment_says(bucket: None) -> None:
    folder = Folder.of("s3a://bucket/shop") / "offsets"
    assert folder.list_names() == ["7"]
    assert folder.read("7") == CONTENT.decode()
    assert folder.count_bytes() == len(CONTENT)

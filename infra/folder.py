"""A folder by its address, on a disk or in an object store; every engine takes the address."""

import os
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote, urlsplit

from pyarrow import fs

STORE = "s3a://"
DISK = fs.LocalFileSystem()


@dataclass(frozen=True)
class Folder:
    """Other programs find the folder by its address; this project reads it through this class."""

    address: str
    """An absolute path, or s3a://bucket/key."""

    @classmethod
    def of(cls, url: str) -> "Folder":
        """The folder at a URL: file:///… or s3a://…"""
        parts = urlsplit(url)
        return cls((unquote(parts.path) if parts.scheme == "file" else url).rstrip("/"))

    def __str__(self) -> str:
        return self.address

    def __truediv__(self, name: str) -> "Folder":
        return Folder(f"{self.address}/{name}")

    @property
    def name(self) -> str:
        return self.address.rpartition("/")[2]

    @property
    def on_disk(self) -> bool:
        return not self.address.startswith(STORE)

    def list_names(self) -> list[str]:
        """The names of the folder's entries; empty if there is no folder."""
        return [file.base_name for file in self._list_files(recursive=False)]

    def read(self, name: str) -> str:
        """The text of a file in the folder. Raises FileNotFoundError."""
        with self._files.open_input_stream(f"{self._path}/{name}") as file:
            return bytes(file.read()).decode()

    def count_bytes(self) -> int:
        """The size of all files below the folder, in bytes."""
        return sum(file.size or 0 for file in self._list_files(recursive=True))

    def remove(self) -> None:
        """Remove the folder with everything below it, if it exists."""
        if self.list_names():
            self._files.delete_dir(self._path)

    def _list_files(self, recursive: bool) -> list[fs.FileInfo]:
        below = fs.FileSelector(self._path, allow_not_found=True, recursive=recursive)
        return list(self._files.get_file_info(below))

    @property
    def _files(self) -> fs.FileSystem:
        return DISK if self.on_disk else store()

    @property
    def _path(self) -> str:
        """The path as the folder's file system writes it."""
        return self.address.removeprefix(STORE)


@cache
def store() -> fs.FileSystem:
    """The object store of AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and other variables."""
    # Arrow does not read these two variables by itself; delta-rs does.
    return fs.S3FileSystem(
        endpoint_override=os.environ.get("AWS_ENDPOINT_URL"), region=os.environ.get("AWS_REGION")
    )

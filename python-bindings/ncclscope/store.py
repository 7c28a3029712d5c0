"""What `ncclscope scan --db` keeps, by Python's own SQLite."""

import os
import sqlite3
from typing import Any, List, Sequence, Union

from . import errors


def is_store(path: str) -> bool:
    """Is the file a database? A pipe is not asked: what is read of it is gone."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


class Store:
    """A file of `ncclscope scan --db`: its tables by SQL. It is read by Python's own sqlite3, and never written here. DataError for a file
    that is no store."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        self.path = os.fspath(path)
        if not is_store(self.path):
            raise errors.of(-4, "%s: is no store of ncclscope" % self.path)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect("file:%s?mode=ro" % self.path.replace("%", "%25").replace("?", "%3f").replace("#", "%23"), uri=True)
        db.row_factory = sqlite3.Row
        return db

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> List[sqlite3.Row]:
        """The rows that a SELECT gives; docs/schema.md describes the tables. Errors are those of sqlite3."""
        db = self._open()
        try:
            return db.execute(sql, parameters).fetchall()
        finally:
            db.close()

    def saved(self) -> bytes:
        """The model of the scan that was added last, as the library saves it."""
        found = self.query("SELECT bytes FROM saved_model WHERE scan = (SELECT max(id) FROM scan)")
        if not found:
            raise errors.of(-6, "%s: holds no scan" % self.path)
        return bytes(found[0][0])

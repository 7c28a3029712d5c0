"""The tables of columns.def: a class of rows for each (`Link` of `link`), and their rows as attributes (`links`).

What stands here is found when it is asked for; columns.pyi, which the build makes of columns.def, tells type checkers of it.
"""

from typing import Any, List

from .rows import Rows, tables


class Tables:
    """Every table, by the name of its rows."""

    def _rows(self, table: str) -> Rows[Any]:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Rows[Any]:
        for table in tables.values():
            if table.rows == name:
                return self._rows(table.name)
        raise AttributeError("there is no table of %s" % name)


class FindingColumns:
    """The columns of the table `finding`."""

    _row: Any

    def __getattr__(self, name: str) -> Any:
        if name == "_row":
            raise AttributeError(name)
        return getattr(self._row, name)

    def __dir__(self) -> List[str]:
        return sorted(set(object.__dir__(self)) | set(self._row._fields))


def __getattr__(name: str) -> type:
    for table in tables.values():
        if table.title == name:
            return table.type
    raise AttributeError("there is no table of rows %s" % name)


def __dir__() -> List[str]:
    return ["Tables", "FindingColumns"] + [table.title for table in tables.values()]

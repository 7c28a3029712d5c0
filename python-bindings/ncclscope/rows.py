"""The tables of columns.def: a class for each, and sequences of their rows that are made when they are asked for."""

import keyword
from collections import namedtuple
from typing import Any, Callable, Dict, Generic, Iterator, List, Optional, Tuple, TypeVar, Union, overload

from . import _core

_AT_ONCE = 1024
_Row = TypeVar("_Row")


class Table:
    """What is known of a table: its name, what one row is, and its columns as (name, type, unit, words)."""

    def __init__(self, number: int, name: str, rows: str, owner: str, words: str, columns: List[Tuple[str, int, str, str]]):
        self.number, self.name, self.rows, self.owner, self.words, self.columns = number, name, rows, owner, words, columns
        self._type: Optional[type] = None

    @property
    def title(self) -> str:
        """The name of that class, which is in ncclscope.columns: "FindingRank" of finding_rank."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def type(self) -> type:
        """The class of its rows: a named tuple whose members are the columns, None where the log does not say."""
        if self._type is None:
            members = [name + "_" if keyword.iskeyword(name) else name for name, _, _, _ in self.columns]  # class_
            made = namedtuple(self.title, members)  # type: ignore[misc]
            made.__doc__ = self.words + "\n\n" + "\n".join(_told(*column) for column in self.columns)
            made.__module__ = "ncclscope.columns"
            self._type = made
        return self._type


def _told(name: str, type_: int, unit: str, words: str) -> str:
    """A column of a docstring: "bytes: as given, compressed if it was (bytes)"."""
    return "%s: %s%s" % (name, words, " (%s)" % unit if unit != "none" else "")


tables: Dict[str, Table] = {t[0]: Table(i, *t) for i, t in enumerate(_core.tables())}


class Rows(Generic[_Row]):
    """The rows of a table, by their number, by a slice, or one after the other: some are fetched at a time, none before it is asked for.

    They are no `Sequence` by name, for data frames take such a thing row by row, and this as Arrow's columns."""

    def __init__(self, table: Table, owner: Any, make: Optional[Callable[[int, Any], _Row]] = None):
        self.table = table
        self._owner = owner
        self._len: int = owner.rows(table.number)
        self._make = make
        self._first, self._kept = 0, []  # type: Tuple[int, List[Any]]

    def __len__(self) -> int:
        return self._len

    def _at(self, i: int) -> _Row:
        if not self._first <= i < self._first + len(self._kept):
            self._first = i - i % _AT_ONCE
            self._kept = self._owner.rows(self.table.number, self._first, _AT_ONCE)
        row: Any = self.table.type._make(self._kept[i - self._first])  # type: ignore[attr-defined]
        return row if self._make is None else self._make(i, row)

    @overload
    def __getitem__(self, i: int) -> _Row: ...

    @overload
    def __getitem__(self, i: slice) -> List[_Row]: ...

    def __getitem__(self, i: Union[int, slice]) -> Union[_Row, List[_Row]]:
        if isinstance(i, slice):
            return [self._at(k) for k in range(*i.indices(self._len))]
        k = i + self._len if i < 0 else i
        if not 0 <= k < self._len:
            raise IndexError("%s has %d rows" % (self.table.rows, self._len))
        return self._at(k)

    def __iter__(self) -> Iterator[_Row]:
        return (self._at(i) for i in range(self._len))

    def columns(self) -> Dict[str, List[Any]]:
        """All rows as columns: {name: [value, ...]}."""
        found: Dict[str, List[Any]] = {name: [] for name, _, _, _ in self.table.columns}
        lists = list(found.values())
        for first in range(0, self._len, _AT_ONCE):
            for row in self._owner.rows(self.table.number, first, _AT_ONCE):
                for values, value in zip(lists, row):
                    values.append(value)
        return found

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows for pyarrow.table(), polars.from_arrow(), duckdb and others: int64, double, bool, utf8, and dictionaries of words."""
        return self._owner.arrow(self.table.number)

    def __repr__(self) -> str:
        return "<%d %s>" % (self._len, self.table.rows)

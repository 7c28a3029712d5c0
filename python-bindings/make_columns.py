"""make_columns.py COLUMNS.DEF OUT - columns.pyi: the tables of columns.def as types, for type checkers and editors."""
import keyword
import re
import sys

TYPES = {'I64': 'int', 'F64': 'float', 'TEXT': 'str', 'BOOL': 'bool'}
ROW = re.compile(r'^NCCLSCOPE_(WORD|TABLE|COLUMN)\((.*)\)(?: /\*.*\*/)?$', re.M)
PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^,\s][^,]*')
HEAD = '''"""The tables of columns.def as types: None where the log does not say."""

from typing import Literal, NamedTuple, Optional

from .rows import Rows

'''


def read(path):
    """{set: [words]} and {table: (rows, words, [(column, TYPE, unit, words), ...])}"""
    words, tables = {}, {}
    with open(path, encoding='utf-8') as file:
        for kind, row in ROW.findall(file.read()):
            part = [p.strip().strip('"') for p in PART.findall(row)]
            if kind == 'WORD':
                words.setdefault(part[0], []).append(part[3])
            elif kind == 'TABLE':
                tables[part[0]] = (part[1], part[3], [])
            else:
                tables[part[0]][2].append(tuple(part[1:5]))
    return words, tables


def class_of(table):
    return ''.join(word.capitalize() for word in table.split('_'))


def member(column):
    name = column.rstrip('_')
    return name + '_' if keyword.iskeyword(name) else name


def attributes(columns):
    for name, type_, unit, _ in columns:
        hidden = '  # type: ignore[assignment]' if name in ('count', 'index') else ''  # methods of a tuple
        yield '    %s: Optional[%s]%s\n' % (member(name), '_' + class_of(unit) if type_ == 'ENUM' else TYPES[type_], hidden)


def stub(words, tables):
    out = [HEAD]
    for name, all_of_it in words.items():
        out.append('_%s = Literal[%s]\n' % (class_of(name), ', '.join('"%s"' % w for w in dict.fromkeys(all_of_it))))
    for table, (_, what, columns) in tables.items():
        out.append('\nclass %s(NamedTuple):\n    """%s"""\n\n' % (class_of(table), what[0].upper() + what[1:]))
        out.extend(attributes(columns))
    out.append('\nclass FindingColumns:\n')
    out.extend(line.replace('  # type: ignore[assignment]', '') for line in attributes(tables['finding'][2]))
    out.append('\nclass Tables:\n')
    seen = set()
    for table, (rows, _, _) in tables.items():
        if rows not in seen:  # as Tables finds them
            out.append('    %s: Rows[%s]\n' % (rows, class_of(table)))
        seen.add(rows)
    return ''.join(out)


if __name__ == '__main__':
    with open(sys.argv[2], 'w', encoding='utf-8') as to:
        to.write(stub(*read(sys.argv[1])))

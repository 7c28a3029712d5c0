#!/usr/bin/env python3
"""check-tables.py: reads the tables of messages and fields with a second, independent reading of their language, and checks them.

    check-tables.py                  exit 1 if a rule is broken, with one line for each
    check-tables.py --log FILE...    also: the records of these logs (plain or .gz) that match no row, by shape, with counts
    check-tables.py --list           also: one line per row, as it was read

The rules: numbers are unique and rise within a block (a comment starts a block); names are unique; a row uses only fields that
exist, each once, in a form that the type of the field can hold, and every field is used by some row; a spelling (ALSO) names a
kind above it; every template compiles; every example matches its own row, and no earlier row of another kind does."""

import argparse
import collections
import gzip
import os
import re
import sys

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "libncclscope")
FIELDS = ("include/ncclscope/fields.def", "include/ncclscope/fields_more.def")
MESSAGES = ("include/ncclscope/messages.def", "include/ncclscope/messages_more.def")
PARTS = ("tables/prefixes.def", "tables/transports.def")

MACROS = {
    "NCCLSCOPE_FIELD": "NCCLSCOPE_FIELD(number, NAME, name, type, unit, words)",
    "NCCLSCOPE_MSG": "NCCLSCOPE_MSG(number, NAME, template, example)",
    "NCCLSCOPE_ALSO": "NCCLSCOPE_ALSO(NAME, template, example)",
    "NCCLSCOPE_OTHER": "NCCLSCOPE_OTHER(number, NAME, template, example)",
    "PREFIX": "PREFIX(NAME, template, example)",
    "TRANSPORT": "TRANSPORT(NAME, family, template, example)",
    "TEXT": "TEXT(family, LEVEL, subsystems, first, last, template)",
}
TYPES = {
    "u": r"[0-9]+",
    "i": r"-?[0-9]+",
    "x": r"[0-9a-fA-F]+",
    "p": r"0x[0-9a-fA-F]+|\(nil\)|[0-9a-fA-F]{6,}",
    "f": r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|-?inf|-?nan",
    "w": r"[^ ]+",
    "t": r".*?",
    "b": r"[0-9a-fA-F:.]+",
    "v": r"[0-9]+\.[0-9]+[^ ]*",
}
HOLDS = {"U64": "u", "I64": "ui", "HEX": "ux", "F64": "uif", "TEXT": "".join(TYPES)}
UNITS = {"COUNT", "BYTES", "SECONDS", "GB_S", "INDEX", "RANK", "ID", "NONE"}
CAPTURES = 14

STRING = r'"(?:[^"\\]|\\.)*"'
TOKEN = re.compile(r"(?P<comment>/\*.*?\*/)|(?P<row>(?P<macro>%s)\((?P<args>(?:%s|[^()\"])*)\))|(?P<blank>\s+)|(?P<bad>.)"
                   % ("|".join(MACROS), STRING), re.S)
ARGUMENT = re.compile(r"\s*(%s|[A-Za-z0-9_]+)\s*(?:,|$)" % STRING, re.S)
CAPTURE = re.compile(r"\{([a-z][a-z0-9_]*)?:(?:([a-z])\}|/(.*?)(?<!\\)/\})", re.S)

Row = collections.namedtuple("Row", "where kind template example regex fields head")
errors = []


def error(where, text):
    errors.append("%s: %s" % (where, text))


def unquote(text):
    """The value of a C string; only the escapes that the tables use."""
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text[1:-1], flags=re.S)


def rows_of(names, macros):
    """Yields (where, block, macro, arguments) of every row of these files that has the right number of arguments."""
    for name in names:
        path = os.path.join(LIBRARY, name)
        if not os.path.exists(path):
            if name.endswith("_more.def"):
                continue
            error(name, "is missing")
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        block = 0
        for match in TOKEN.finditer(text):
            where = "%s:%d" % (os.path.basename(path), text.count("\n", 0, match.start()) + 1)
            if match.group("comment"):
                block += 1
            elif match.group("bad"):
                error(where, "neither a row nor a comment: %s" % text[match.start():match.start() + 40].split("\n")[0])
                break
            elif match.group("row"):
                macro = match.group("macro")
                args = [m.group(1) for m in ARGUMENT.finditer(match.group("args"))]
                if macro not in macros or len(args) != MACROS[macro].count(",") + 1:
                    error(where, "not %s" % " or ".join(MACROS[m] for m in macros))
                    continue
                yield where, (name, block), macro, [unquote(a) if a.startswith('"') else a for a in args]


def compile_template(template):
    """Returns (expression, [(field, type or None)]); raises ValueError."""
    out, fields, i = [], [], 0
    while i < len(template):
        if template[i:i + 2] in ("{{", "}}"):
            out.append(re.escape(template[i]))
            i += 2
        elif template[i] == "{":
            match = CAPTURE.match(template, i)
            if not match or (match.group(2) and match.group(2) not in TYPES):
                raise ValueError("a brace that opens no field: %s" % template[i:i + 30])
            expression = TYPES[match.group(2)] if match.group(2) else match.group(3)
            try:
                groups = re.compile(expression).groups
            except re.error as problem:
                raise ValueError("%s: %s" % (expression, problem)) from None
            if groups:
                raise ValueError("a group inside: %s" % expression)
            if match.group(1):
                fields.append((match.group(1), match.group(2)))
            out.append("(%s)" % expression if match.group(1) else "(?:%s)" % expression)
            i = match.end()
        elif template[i] == "}":
            raise ValueError("a single closing brace")
        else:
            out.append(re.escape(template[i]))
            i += 1
    return re.compile("".join(out).encode(), re.S), fields


def literal_head(template):
    return re.match(r"(?:[^{}]|\{\{|\}\})*", template).group().replace("{{", "{").replace("}}", "}").encode()


class Table:
    """All rows in order; a row is tried only where its literal head fits."""

    def __init__(self, rows):
        self.by_head = collections.defaultdict(list)
        for number, row in enumerate(rows):
            self.by_head[row.head].append((number, row))
        self.lengths = sorted({len(head) for head in self.by_head})

    def matches(self, message):
        """(number, row) of every row that matches, in file order, lazily."""
        found = []
        for length in self.lengths:
            if length <= len(message):
                found += self.by_head.get(message[:length], ())
        for number, row in sorted(found, key=lambda pair: pair[0]):
            if row.regex.fullmatch(message):
                yield number, row


def check_number(what, where, block, number, name, last, seen):
    if not number.isdigit():
        error(where, "no number: %s" % number)
        return
    if int(number) <= last.get(block, -1):
        error(where, "%s has number %s, not above the %d before it" % (name, number, last[block]))
    last[block] = int(number)
    for key in (int(number), name):
        if key in seen:
            error(where, "%s %s was taken at %s" % (what, key, seen[key]))
        seen[key] = where


def read_fields():
    """{name: (where, type)}"""
    fields, seen, last = {}, {}, {}
    for where, block, _, (number, upper, name, kind, unit, words) in rows_of(FIELDS, ["NCCLSCOPE_FIELD"]):
        check_number("field", where, block, number, upper, last, seen)
        if name in fields:
            error(where, "field %s was taken at %s" % (name, fields[name][0]))
        if name.upper() != upper:
            error(where, "%s and %s are not one name" % (upper, name))
        if kind not in HOLDS or unit not in UNITS or not words:
            error(where, "%s has no good type, unit or words" % upper)
        fields[name] = (where, kind)
    return fields


def read_row(where, kind, template, example, fields, used):
    try:
        regex, captures = compile_template(template)
    except ValueError as problem:
        error(where, "%s: %s" % (kind, problem))
        return None
    names = [name for name, _ in captures]
    for name, form in captures:
        if name not in fields:
            error(where, "%s uses field %s, which does not exist" % (kind, name))
        elif form and form not in HOLDS.get(fields[name][1], ""):
            error(where, "%s reads field %s, a %s, in the form %s" % (kind, name, fields[name][1], form))
        if names.count(name) > 1:
            error(where, "%s uses field %s twice" % (kind, name))
    if len(names) > CAPTURES:
        error(where, "%s captures %d fields, more than %d" % (kind, len(names), CAPTURES))
    used.update(names)
    return Row(where, kind, template, example, regex, names, literal_head(template))


def read_messages(fields, used):
    rows, seen, last = [], {}, {}
    for where, block, macro, args in rows_of(MESSAGES, ["NCCLSCOPE_MSG", "NCCLSCOPE_ALSO"]):
        if macro == "NCCLSCOPE_MSG":
            check_number("kind", where, block, args[0], args[1], last, seen)
        elif args[0] not in seen:
            error(where, "ALSO of %s, which is no kind above" % args[0])
        kind, template, example = args[-3:]
        if example != example.rstrip(" \t"):
            error(where, "%s: the example ends in blanks, which are cut before matching" % kind)
        row = read_row(where, kind, template, example, fields, used)
        if row:
            rows.append(row)
    return rows


def check_examples(rows, table):
    templates = {}
    for number, row in enumerate(rows):
        if row.template in templates:
            error(row.where, "%s: the same template as %s" % (row.kind, templates[row.template]))
        templates[row.template] = row.where
        if not row.regex.fullmatch(row.example.encode()):
            error(row.where, "%s: its example does not match: %s" % (row.kind, row.example))
        for other, earlier in table.matches(row.example.encode()):
            if other >= number:
                break
            if earlier.kind != row.kind:
                error(row.where, "%s: its example matches the earlier %s (%s)" % (row.kind, earlier.kind, earlier.where))
                break


def check_parts(fields, used):
    """The tables of what stands before a record, and of what stands behind "via"."""
    seen = set()
    for where, (name, _), macro, args in rows_of(PARTS, ["PREFIX", "TRANSPORT"]):
        if (name, args[0]) in seen:
            error(where, "%s stands there twice" % args[0])
        seen.add((name, args[0]))
        row = read_row(where, args[0], args[-2], args[-1], fields, used)
        if row and not row.regex.fullmatch(row.example.encode()):
            error(where, "%s: its example does not match: %s" % (row.kind, row.example))


HEADER = re.compile(rb"[A-Za-z0-9_.-]+:[0-9]+:[0-9]+ \[-?[0-9]+\] (?:[^\n]*?:[0-9]+ (?:\([A-Za-z0-9_~]+\) )?|<unknown> )??NCCL (?:INFO|WARN) ?")
MARKER = re.compile(rb"NCCL (?:INFO|WARN)\b")


def shape(message):
    text = message.decode("utf-8", "replace")
    text = re.sub(r"0x[0-9a-fA-F]+|\b(?=[0-9a-f]*[0-9])[0-9a-f]{6,}\b", "#", text)
    return re.sub(r"[0-9]+(?:\.[0-9]+)*", "#", text)[:160]


def report_unknown(path, table):
    """Prints what of this log no row knows; a record that the next one cut short is counted apart."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        lines = file.read().split(b"\n")
    records = torn = 0
    unknown, cut_unknown = collections.Counter(), collections.Counter()
    for line in lines:
        headers = list(HEADER.finditer(line))
        torn += len(MARKER.findall(line)) - len(headers)
        for index, header in enumerate(headers):
            records += 1
            cut = index + 1 < len(headers)
            end = headers[index + 1].start() if cut else len(line)
            message = line[header.end():end].rstrip(b" \t\r")
            if next(table.matches(message), None) is None:
                (cut_unknown if cut else unknown)[shape(message)] += 1
    print("%s: %d records, %d unknown of %d shapes, %d unknown and cut by the next, %d without a whole header"
          % (path, records, sum(unknown.values()), len(unknown), sum(cut_unknown.values()), torn))
    for text, count in unknown.most_common():
        print("%8d  %s" % (count, text))
    for text, count in cut_unknown.most_common():
        print("%8d  cut: %s" % (count, text))


ANYTHING = re.compile(r"{\w+:t}")     # rows that are found by where they stand alone


def check_others(fields, used):
    """Lines of other programs: numbers rise, each example is taken by its own row and by none before it."""
    rows, seen, last = [], {}, {}
    for where, block, _, (number, name, template, example) in rows_of(["include/ncclscope/other.def"], ["NCCLSCOPE_OTHER"]):
        check_number("kind", where, block, number, name, last, seen)
        row = read_row(where, name, template, example, fields, used)
        if row:
            rows.append(row)
    for number, row in enumerate(rows):
        taker = next((other for other in rows if other.regex.fullmatch(row.example.encode())), None)
        by_place = taker and ANYTHING.fullmatch(row.template) and ANYTHING.fullmatch(taker.template)
        if taker is not row and not by_place:
            error(row.where, "%s: its example is taken by %s" % (row.kind, taker.kind if taker else "no row"))
    return [row.kind for row in rows]


LEVELS = {"INFO", "WARN", "ATTN", "TRACE", "CALL", "ABORT", "VERSION"}
SAY_NEWEST = ("tools/cmd_explain.c", "libncclscope/src/answer/explain.c", "docs/reading-logs.md")
VERSION = re.compile(r"2(?:\.[0-9]+){2}|ofi:[0-9.]+(?:-aws)?|rccl|tcpx|sharp|fastsocket|mrc")


def order(version):
    """A version as something that can be compared; plugins' own versions stand apart."""
    return ([int(part) for part in re.findall(r"[0-9]+", version)] if version and version[0] == "2" else None)


def check_texts():
    """The table of all texts: how many, each with a level, versions in order and a template that compiles."""
    seen, count = {}, 0
    for where, _, _, (family, level, subsystems, first, last, template) in rows_of(["tables/texts.def"], ["TEXT"]):
        count += 1
        if level not in LEVELS or not subsystems or not re.fullmatch(r"[a-z0-9-]+", family):
            error(where, "no family, level or subsystems: %s %s" % (family, level))
        if not VERSION.fullmatch(first) or (last and not VERSION.fullmatch(last)):
            error(where, "no version of NCCL or a plugin: %s %s" % (first, last))
        elif last and order(first) and order(first) > (order(last) or []):
            error(where, "ends before it begins: %s %s" % (first, last))
        if template != template.rstrip(" "):
            error(where, "ends in blanks, which are cut before matching")
        try:
            compile_template(template)
        except ValueError as problem:
            error(where, problem)
        key = (family, level, first, template)
        if key in seen:
            error(where, "stands at %s already" % seen[key])
        seen[key] = where
    newest = max((first for _, _, first, _ in seen if order(first)), key=order)
    for path in SAY_NEWEST:
        with open(os.path.join(LIBRARY, "..", path), encoding="utf-8") as file:
            if "2.3.5 to " + newest not in file.read():
                error(path, "does not say that the texts reach to %s" % newest)
    return count


def check_meanings(kinds):
    """Every kind of record has its meaning, and no meaning is of a kind that is not there."""
    with open(os.path.join(LIBRARY, "tables/meanings.def"), encoding="utf-8") as file:
        means = re.findall(r"^MEANS\((\w+),", file.read(), re.M)
    beside = {"TEST_NAME", "TEST_ROW", "TEST_JSON", "MATRIX_HEAD", "MATRIX_ROW", "RAS_JSON"}  # found by code, not by a row
    for kind in sorted((set(kinds) | beside) - set(means)):
        error("meanings.def", "%s has no meaning" % kind)
    for kind in sorted(set(means) - set(kinds) - beside):
        error("meanings.def", "%s is no kind" % kind)
    for kind in sorted({kind for kind in means if means.count(kind) > 1}):
        error("meanings.def", "%s stands there twice" % kind)


def check_hardware():
    """No figure without where and when it is from; names of variables are sorted, each once."""
    def table(name, macro):
        path = os.path.join(LIBRARY, "tables", name)
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.startswith(macro + "("):
                    row = line[len(macro) + 1:line.rindex(")")]
                    yield "%s:%d" % (name, number), [unquote(a) for a in ARGUMENT.findall(row)]
    dated = re.compile(r"\b20\d\d-\d\d\b")
    rows = 0
    for name, macro in (("gpus.def", "GPU"), ("links.def", "LINK"), ("platforms.def", "PLATFORM")):
        for where, row in table(name, macro):
            rows += 1
            if not dated.search(row[-1]):
                error(where, "the source has no date")
    def first_words(name, macro):
        with open(os.path.join(LIBRARY, "tables", name), encoding="utf-8") as file:
            return {match[1] for line in file if (match := re.match(macro + r"\((\w+), ", line))}
    rules, caused = first_words("rules.def", "RULE"), first_words("causes.def", "(?:CAUSE|KNOWN)")
    for name in sorted(rules ^ caused):
        error("causes.def", "%s %s" % (name, "has no cause" if name in rules else "is no rule"))
    names = [row[0] for _, row in table("variables.def", "VARIABLE")]
    for one, other in zip(names, names[1:]):
        if one >= other:
            error("variables.def", "%s is not behind %s" % (other, one))
    if rows < 20 or len(names) < 400:
        error("tables", "rows of hardware or variables were not found")


def check_ids():
    """rules.def and the public ids.def name the same findings, whose numbers rise by one."""
    with open(os.path.join(LIBRARY, "tables/rules.def"), encoding="utf-8") as file:
        rules = dict(re.findall(r'^RULE\((\w+), "([^"]+)"', file.read(), re.M))
    with open(os.path.join(LIBRARY, "include/ncclscope/ids.def"), encoding="utf-8") as file:
        ids = re.findall(r'^NCCLSCOPE_ID\((\w+), ([0-9]+), "([^"]+)"\)', file.read(), re.M)
    for name in set(rules.items()) ^ {(name, id_) for name, _, id_ in ids}:
        error("ids.def", "%s (%s) stands in rules.def or in ids.def alone" % name)
    if [int(number) for _, number, _ in ids] != list(range(1, len(ids) + 1)):
        error("ids.def", "the numbers do not rise by one from 1")


def check_schema():
    """docs/schema.md lists each table of columns.def with its columns, in their order."""
    with open(os.path.join(LIBRARY, "include/ncclscope/columns.def"), encoding="utf-8") as file:
        tables = re.findall(r"^NCCLSCOPE_TABLE\((\w+),.*\n((?:NCCLSCOPE_COLUMN.*\n)+)", file.read(), re.M)
    with open(os.path.join(LIBRARY, "../docs/schema.md"), encoding="utf-8") as file:
        listed = dict(re.findall(r"^\| `(\w+)` \| .* \| (`.*`) \|$", file.read(), re.M))
    for table, columns in tables:
        names = ", ".join("`%s`" % name.rstrip("_") for name in re.findall(r"NCCLSCOPE_COLUMN\(\w+, (\w+),", columns))
        if listed.get("scan_source" if table == "source" else table) != names:
            error("schema.md", "of %s it does not list %s" % (table, names))
    if len(tables) < 30:
        error("columns.def", "its tables were not found")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--log", nargs="+", metavar="FILE", default=[], help="logs whose unknown records are listed")
    options.add_argument("--list", action="store_true", help="list the rows")
    options = options.parse_args()
    used = set()
    fields = read_fields()
    rows = read_messages(fields, used)
    table = Table(rows)
    check_examples(rows, table)
    check_parts(fields, used)
    others = check_others(fields, used)
    check_meanings([row.kind for row in rows] + others)
    texts = check_texts()
    check_hardware()
    check_ids()
    check_schema()
    for name, (where, _) in fields.items():
        if name not in used:
            error(where, "no row uses field %s" % name)
    if options.list:
        for row in rows:
            print("%s %s %s" % (row.where, row.kind, row.template))
    for path in options.log:
        report_unknown(path, table)
    sys.stdout.flush()
    for text in errors:
        print(text, file=sys.stderr)
    print("%d rows, %d kinds, %d rows of other programs, %d texts: %s" % (len(rows), len({row.kind for row in rows}), len(others), texts, "%d errors" % len(errors) if errors else "good"))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

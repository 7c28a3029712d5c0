#!/usr/bin/env python3
"""nccl-coverage.py: which of the texts that NCCL prints have a row that gives them a meaning, which are known by their text alone?

    nccl-coverage.py [--against FILE]  exit 1 if a family that answers questions about paths has a text, or a template, without a meaning, or if
                                       fewer than 98 % of the texts at INFO and WARN are known
    nccl-coverage.py --samples         writes one record for each text, as NCCL would print it, and stops

Each text of texts.def is turned into a sentence that it could print, and the rows of messages.def are tried on it. FILE is a list of
NCCL's templates extracted from its sources (family, level, subsystems, first and last tag, template, separated by tabs); without the
option it is looked for as knowledge/nccl-log-lines.tsv beside the checkout. Where there is none, that is said: then texts.def is held
against itself only."""

import argparse
import collections
import glob
import importlib.util
import os
import re
import sys

try:
    from re import _constants as constants, _parser as parser
except ImportError:
    import sre_constants as constants
    import sre_parse as parser

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("check_tables", os.path.join(HERE, "check-tables.py"))
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)

ANSWERING = ("conn-", "plugin-", "net-", "shm", "topo")
ANSWERS = set("lifecycle init bootstrap env config gdr p2p-misc nvls mnnvl graph connected coll tuning ring ring-list tree fallback "
              "mismatch nvml driver ofi-key backtrace socket-error cuda-error".split())
ALLOWED = 0.98

Text = collections.namedtuple("Text", "where family level template regex")
FILLERS = {"u": "3", "i": "3", "x": "1a", "p": "0x7f12ab00", "f": "1.25", "w": "word", "b": "0000:1a:00.0", "v": "2.28.9+cuda13.0"}


def answers(family):
    return family in ANSWERS or family.startswith(ANSWERING)


def sample_of_tree(tree):
    """The simplest text that a parsed expression matches."""
    out = []
    for op, value in tree:
        if op is constants.LITERAL:
            out.append(chr(value))
        elif op is constants.IN:
            out.append(sample_of_set(value))
        elif op in (constants.ANY, constants.NOT_LITERAL):
            out.append("a")
        elif op is constants.BRANCH:
            out.append(sample_of_tree(value[1][0]))
        elif op is constants.SUBPATTERN:
            out.append(sample_of_tree(value[3]))
        elif op in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            out.append(sample_of_tree(value[2]) * value[0])
        else:
            raise ValueError("an expression with %s" % op)
    return "".join(out)


def sample_of_set(items):
    if items[0][0] is constants.NEGATE:
        return "a"
    op, value = items[0]
    return chr(value) if op is constants.LITERAL else chr(value[0]) if op is constants.RANGE else "1"


def sample(template, free="word"):
    """A sentence that this template matches; `free` stands where any text may."""
    out, i = [], 0
    while i < len(template):
        match = tables.CAPTURE.match(template, i) if template[i] == "{" and template[i:i + 2] != "{{" else None
        if match:
            out.append(FILLERS.get(match.group(2), free) if match.group(2) else sample_of_tree(parser.parse(match.group(3))))
            i = match.end()
        else:
            i += 2 if template[i:i + 2] in ("{{", "}}") else 1
            out.append(template[i - 1])
    return "".join(out).rstrip()


def read_texts():
    for where, _, _, (family, level, _, _, _, template) in tables.rows_of(["tables/texts.def"], ["TEXT"]):
        yield Text(where, family, level, template, tables.compile_template(template)[0])


# ---- the list from the sources, read on its own: its placeholders are {name:format}, {'A'|'B':s}, {...}? ----
PLACE = re.compile(r"\{((?:'[^']*'\|?)+)(?::[^}]*)?\}|\{([A-Za-z_?][A-Za-z0-9_.>()\[\]+* -]*)(?::([^{}]*))?\}")
NAMED = {"file": "init.cc", "cpu": "0", "func": "ncclFoo", "env": "NCCL_FOO", "opName": "AllReduce", "nvmlFunc": "nvmlInit", "node": "GPU/1a",
         "funcName": "ncclCommInitRank", "link": "NVL", "typeIntra": "NVL", "typeInter": "PIX", "type": "GPU",
         "IB": "IB", "n": "1", "rail": "1", "plane": "1", "sys": "0", "id": "1a"}


def fill(match, template):
    if match.group(1) is not None:
        return re.findall(r"'([^']*)'", match.group(1))[0]
    name, form = match.group(2), match.group(3) or ""
    if name == "indent":
        return "" if template[match.end():match.end() + 1] == "+" else "   + NVL[20.0] - "
    last = form[-1:]
    if last == "s" and name in ("func", "funcName") and "Bytes ->" in template:
        return "AllReduce"
    if last in ("", "s") and name in NAMED:
        return NAMED[name]
    return {"d": "3", "u": "3", "x": "1a", "X": "1A", "p": "0x7f12ab00", "f": "1.25", "g": "1.25"}.get(last, "text")


def source_sample(template):
    """The first line that such a template prints; None for those that are built in pieces, which a list cannot spell."""
    first = re.sub(r"^\\n", "", template).split("\\n")[0].rstrip()
    text = re.sub(r"\{:?\{[^{}]*\}\}\?", "", first)
    if "}?" in PLACE.sub("", text) or re.search(r"[\}\]|]\.\.\.|\*d\}|\{Lo", text):
        return None
    return PLACE.sub(lambda m: fill(m, text), text).rstrip()


def find_list(given):
    if given:
        return given
    found = sorted(glob.glob(os.path.join(HERE, "..", "..", "*", "knowledge", "nccl-log-lines.tsv")))
    return found[0] if found else None


def check_own(texts, meanings):
    """The families that answer have a meaning for each text."""
    count, known = collections.Counter(), collections.Counter()
    for text in texts:
        if text.level not in ("INFO", "WARN"):
            continue
        lines = [sample(text.template, free) for free in ("word", "some text")]
        for line in lines:
            if not text.regex.fullmatch(line.encode()):
                tables.error(text.where, "its own sample does not match: %s" % line)
        count[text.family] += 1
        if any(next(meanings.matches(line.encode()), None) for line in lines):
            known[text.family] += 1
        elif answers(text.family):
            tables.error(text.where, "%s: no row of messages.def takes: %s" % (text.family, lines[0]))
    return count, known


def check_source(path, texts, meanings):
    """Every template of the list is known by one table or the other."""
    by_text = tables.Table([tables.Row(t.where, t.family, t.template, "", t.regex, [], tables.literal_head(t.template)) for t in texts])
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][1:]
    count = known = pieces = 0
    for family, level, _, first, _, template in lines:
        if level not in ("INFO", "WARN") or family == "header":
            continue
        line = source_sample(template)
        if line is None:
            pieces += 1
            continue
        count += 1
        understood = next(meanings.matches(line.encode()), None)
        taken = understood or next(by_text.matches(line.encode()), None)
        known += bool(taken)
        if answers(family) and not understood:
            tables.error(os.path.basename(path), "%s: no row of messages.def takes: %s" % (family, line))
        if not taken:
            print("not known: %s %s %s: %s" % (family, level, first, line))
    print("%d of %d templates at INFO and WARN of %s are known (%.1f %%); %d are built in pieces and not tried"
          % (known, count, os.path.basename(path), 100.0 * known / count, pieces))
    if known < ALLOWED * count:
        tables.error(os.path.basename(path), "less than %.0f %% of the templates are known" % (100 * ALLOWED))


def write_samples(texts):
    for number, text in enumerate(texts):
        where = "" if text.level != "WARN" else "init.cc:%d " % (number + 1)
        if text.level in ("INFO", "WARN"):
            print("node1:100:200 [0] %sNCCL %s %s" % (where, text.level, sample(text.template)))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--against", metavar="FILE", help="a list of templates from NCCL's sources")
    options.add_argument("--samples", action="store_true", help="write one record for each text")
    options = options.parse_args()
    texts = list(read_texts())
    if options.samples:
        write_samples(texts)
        return 0
    rows = tables.read_messages(tables.read_fields(), set())
    meanings = tables.Table(rows)
    count, known = check_own(texts, meanings)
    for family in sorted(count):
        if known[family] < count[family]:
            print("%-16s %4d of %4d texts have a meaning%s" % (family, known[family], count[family], ", all should" if answers(family) else ""))
    print("%d texts; at INFO and WARN %d of %d have a meaning" % (len(texts), sum(known.values()), sum(count.values())))
    path = find_list(options.against)
    if path:
        check_source(path, texts, meanings)
    else:
        print("no list of NCCL's templates is at hand: texts.def was held against itself only")
    sys.stdout.flush()
    for problem in tables.errors:
        print(problem, file=sys.stderr)
    return 1 if tables.errors else 0


if __name__ == "__main__":
    sys.exit(main())

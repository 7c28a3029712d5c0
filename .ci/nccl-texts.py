#!/usr/bin/env python3
"""nccl-texts.py LIBRARY: which texts does this NCCL print that no table here knows, and which does it print no longer?

    nccl-texts.py LIBRARY [--version 2.32.3]   rows for texts.def, ready to be judged, of the texts that no row knows; then what is gone
    nccl-texts.py LIBRARY --list               all of its texts, in the form that `nccl-coverage.py --against` takes
    nccl-texts.py LIBRARY --counts             one line: how many texts, how many known, how many not, how many gone

LIBRARY is a libnccl.so.2 or librccl.so.1, a wheel that holds one (nvidia-nccl-cu12, -cu13), or a checkout of the sources. Of a library for
x86-64 each call of ncclDebugLog is read from the machine code, with its level, subsystems, file and format; needs objdump (binutils). Of
another, or one without symbols, every string that looks like a sentence is taken: level and subsystems are then not known.
Of sources the arguments of WARN, ATTN, INFO, TRACE and VERSION are read."""

import argparse
import collections
import importlib.util
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def module(name):
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), os.path.join(HERE, name + ".py"))
    out = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(out)
    return out


coverage = module("nccl-coverage")
tables = coverage.tables

Text = collections.namedtuple("Text", "level subsystems file format")
# ncclDebugLogLevel and ncclDebugLogSubSys, nccl_common.h; ATTN is printed from 2.32.3 on
LEVELS = {1: "VERSION", 2: "WARN", 3: "INFO", 4: "ABORT", 5: "TRACE", 6: "ATTN"}
SUBSYSTEMS = ["INIT", "COLL", "P2P", "SHM", "NET", "GRAPH", "TUNING", "ENV", "ALLOC", "CALL", "PROXY", "NVLS", "BOOTSTRAP", "REG",
              "PROFILE", "RAS", "DESTROY", "ALLOC_HOST"]
# The part of NCCL that speaks, by the file that does: the first that its path holds.
FAMILIES = [("gin", "gin"), ("doca", "gin"), ("rma", "rma"), ("net_ib", "net-ib"), ("net_socket", "net-socket"), ("p2p_resiliency", "net-ib"),
            ("ras", "ras"), ("diag", "diag"), ("plugin/profiler", "plugin-profiler"), ("plugin/tuner", "plugin-tuner"),
            ("plugin/env", "plugin-env"), ("plugin/gin", "plugin-gin"), ("plugin/rma", "plugin-rma"), ("plugin", "plugin-net"), ("profiler", "plugin-profiler"),
            ("nvls", "nvls"), ("coll_net", "collnet"), ("p2p.cc", "p2p-misc"), ("shm", "shm"), ("net.cc", "proxy"), ("proxy", "proxy"),
            ("bootstrap", "bootstrap"), ("topo", "topo"), ("xml", "topo"), ("paths", "topo"), ("search", "graph"), ("connect", "graph"),
            ("rings", "graph"), ("trees", "graph"), ("tuning", "tuning"), ("cost", "tuning"), ("socket", "socket"), ("param", "env"), ("nvmlwrap", "nvml"),
            ("cudawrap", "driver"), ("ibvwrap", "net-ib"), ("mlx5", "net-ib"), ("gdrwrap", "gdrcopy"), ("alloc", "alloc"), ("argcheck", "argcheck"),
            ("register", "reg"), ("dev_runtime", "devcomm"), ("symmetric", "symmetric"), ("sym_", "symmetric"), ("ce_coll", "ce"), ("group", "group"),
            ("enqueue", "enqueue"), ("mnnvl", "mnnvl"), ("allocator", "alloc"), ("mem_", "alloc"), ("init", "init")]
CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\*|[0-9]+)?(?:\.(?:\*|[0-9]+))?(hh|h|ll|l|L|z|j|t)?([diouxXeEfgGcspn]))")


# ---- machine code ----

class Elf:
    """As much of an ELF file for 64-bit little-endian machines as finds the bytes at an address."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise SystemExit("%s is no library for a 64-bit machine" % path)
        self.machine = struct.unpack_from("<H", self.data, 18)[0]
        at, size, count = struct.unpack_from("<Q", self.data, 32)[0], *struct.unpack_from("<HH", self.data, 54)
        self.parts = []
        for i in range(count):
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", self.data, at + i * size)
            if kind == 1:
                self.parts.append((address, offset, length))

    def string(self, address):
        for start, offset, length in self.parts:
            if start <= address < start + length:
                at = offset + address - start
                end = self.data.find(b"\0", at, at + 4000)
                try:
                    return self.data[at:end].decode("utf-8") if end > at else None
                except UnicodeDecodeError:
                    return None
        return None


FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
LEA = re.compile(r"\blea\s+\S+\(%rip\),%(\w+)\s+# ([0-9a-f]+)")
SET = re.compile(r"\b(?:mov|movabs|movl|movq)\s+\$(0x[0-9a-f]+),%(\w+)$")
ALL_ONES = re.compile(r"\bor\s+\$0xffffffffffffffff,%(\w+)$")
ZERO = re.compile(r"\bxor\s+%(\w+),%(\w+)$")
CALL = re.compile(r"\bcall[q]?\s+(\*?)\S*(?:\s*<(.*)>)?")
WRITES = re.compile(r",%(\w+)$")
WIDE = {"edi": "rdi", "esi": "rsi", "edx": "rdx", "ecx": "rcx", "r8d": "r8", "r9d": "r9"}
LOGGERS = {"_Z12ncclDebugLog17ncclDebugLogLevelmPKciS1_z": ("rdx", "r8"),  # level, flags, function, line, format
           "_Z20ncclDebugLogInternal17ncclDebugLogLevelmPKcS1_iS1_z": ("rdx", "r9")}  # level, flags, file, function, line, format


def of_code(path, elf):
    """Each call of a logger whose arguments are set in plain sight; plugins' calls go through a pointer, with the first signature."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-j", ".text", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    known, found = {}, set()
    for line in code.split("\n"):
        if FUNCTION.match(line):
            known = {}
            continue
        call = CALL.search(line)
        if call:
            place, form = LOGGERS.get(call.group(2), ("rdx", "r8") if call.group(1) else (None, None))
            if form and isinstance(known.get(form), str) and known.get("rdi") in LEVELS and isinstance(known.get("rsi"), int):
                file = known.get(place)
                found.add(Text(LEVELS[known["rdi"]], subsystems(known["rsi"]), file if isinstance(file, str) else "", known[form]))
            continue
        lea, value, ones, zero = LEA.search(line), SET.search(line), ALL_ONES.search(line), ZERO.search(line)
        if lea:
            known[lea.group(1)] = elf.string(int(lea.group(2), 16))
        elif value:
            known[WIDE.get(value.group(2), value.group(2))] = int(value.group(1), 16)
        elif ones:
            known[ones.group(1)] = 0xffffffffffffffff
        elif zero and zero.group(1) == zero.group(2):
            known[WIDE.get(zero.group(1), zero.group(1))] = 0
        else:
            written = WRITES.search(line)
            if written:
                known.pop(WIDE.get(written.group(1), written.group(1)), None)
    return found


def subsystems(flags):
    names = [name for bit, name in enumerate(SUBSYSTEMS) if flags >> bit & 1]
    return "ALL" if flags in (0xffffffffffffffff, 0xffffffff) or len(names) == len(SUBSYSTEMS) else "|".join(names) or "ALL"


def of_strings(elf):
    for match in re.finditer(rb"[\x20-\x7e\n]{12,600}\0", elf.data):
        text = match.group()[:-1].decode()
        if re.search(r"[A-Za-z]{3,} [A-Za-z%]", text) and not re.match(r"[_.$]|\w+::|[A-Z_0-9]+$", text):
            yield Text("", "", "", text)


FEW_CALLS = 100  # a library has hundreds: fewer are calls of something else that takes the same arguments, and its logger has no symbol


def of_library(path):
    elf = Elf(path)
    found = of_code(path, elf) if elf.machine == 62 else set()
    return found if len(found) >= FEW_CALLS else set(of_strings(elf)), elf.data


# ---- sources ----

CALLED = re.compile(r"\b(WARN|ATTN|INFO|TRACE|VERSION)\s*\(\s*(?:((?:NCCL_[A-Z_0-9]+\s*\|?\s*)+|flags)\s*,\s*)?((?:\"(?:[^\"\\]|\\.)*\"\s*(?:PRI[xud]64\s*)?)+)", re.S)


def of_sources(folder):
    found, everything = set(), []
    for where, _, names in os.walk(os.path.join(folder, "src")):
        for name in names:
            if not name.endswith((".cc", ".cu", ".h", ".cpp")):
                continue
            path = os.path.join(where, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                source = file.read()
            everything.append(re.sub(r'"\s*\n?\s*"', "", source))
            for level, flags, strings in CALLED.findall(source):
                text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings)).replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
                names_ = "|".join(re.findall(r"NCCL_([A-Z_0-9]+)", flags)) or "ALL"
                found.add(Text(level, names_, os.path.relpath(path, folder), text))
    return found, "\n".join(everything).encode()


# ---- what is known of them ----

def template(form, place):
    """The format with `place(letter)` for each conversion, braces doubled; its first line."""
    first = form.lstrip("\n").split("\n")[0].rstrip()
    out, at = [], 0
    for match in CONVERSION.finditer(first):
        out.append(first[at:match.start()].replace("{", "{{").replace("}", "}}"))
        out.append("%" if match.group() == "%%" else place(match.group(2)))
        at = match.end()
    return "".join(out) + first[at:].replace("{", "{{").replace("}", "}}")


def as_row(form):
    return template(form, lambda letter: {"p": "{:p}", "x": "{:x}", "X": "{:x}", "f": "{:f}", "g": "{:f}", "e": "{:f}", "s": "{:t}", "c": "{:t}"}
                    .get(letter, "{:i}"))


def sample(form, word):
    form = re.sub(r"%s:%(?:d|u|i)", "init.cc:33", form).replace("(%s)", "(ncclFoo)").replace("%s comm %p", "ncclCommInitRank comm %p")
    fill = {"p": "0x7f12ab00", "x": "1a", "X": "1A", "f": "1.25", "g": "1.25", "e": "1.25", "s": word, "c": "c"}
    return template(form, lambda letter: fill.get(letter, "3")).replace("{{", "{").replace("}}", "}")


def says_something(form):
    return len(re.sub(r"[^A-Za-z]", "", CONVERSION.sub("", form))) >= 6


def family(text):
    name = text.file.lower()
    return next((row for part, row in FAMILIES if part in name), "misc")


class Known:
    def __init__(self):
        rows = tables.read_messages(tables.read_fields(), set())
        self.texts = list(coverage.read_texts())
        self.meanings = tables.Table(rows)
        self.by_text = tables.Table([tables.Row(t.where, t.family, t.template, "", t.regex, [], tables.literal_head(t.template)) for t in self.texts])
        with open(os.path.join(HERE, "..", "libncclscope", "tables", "texts.def"), encoding="utf-8") as file:
            self.open_rows = re.findall(r'^TEXT\("([^"]*)", (\w+), "[^"]*", "([0-9.]+)", "", "((?:[^"\\]|\\.)*)"\)', file.read(), re.M)

    def has(self, form):
        for word in ("text", "some text", "0x1a", "NVL", "AllReduce", "3", "init.cc", "NCCL_FOO", "IB", "eth0"):
            line = sample(form, word).encode()
            if next(self.meanings.matches(line), None) or next(self.by_text.matches(line), None):
                return True
        return False


def number(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def gone(known, everything, version):
    """Rows that say they are still printed, of which the library nowhere holds the longest piece; not those of later releases."""
    for family_, level, first, row in known.open_rows:
        if level not in ("INFO", "WARN", "ATTN") or (number(version) and number(first) > number(version)):
            continue
        pieces = re.split(r"\{[^{}]*\}", row.replace("\\\\", "\\").replace('\\"', '"').replace("{{", "(").replace("}}", ")"))
        longest = max(pieces, key=len).strip()
        if len(longest) >= 8 and "(" not in longest and longest.encode() not in everything:
            yield family_, level, row


def unpack(path, folder):
    with zipfile.ZipFile(path) as wheel:
        names = [n for n in wheel.namelist() if re.search(r"lib[rn]ccl\.so(\.\d+)*$", n)]
        if not names:
            raise SystemExit("%s holds no libnccl.so or librccl.so" % path)
        return wheel.extract(names[0], folder)


def read(path):
    """The texts, and the bytes in which any of them must be."""
    if os.path.isdir(path):
        return of_sources(path)
    with tempfile.TemporaryDirectory() as folder:
        return of_library(unpack(path, folder) if zipfile.is_zipfile(path) else path)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("library")
    options.add_argument("--version", default="", help="the release, for the rows; a library and a wheel's name say it")
    options.add_argument("--list", action="store_true")
    options.add_argument("--counts", action="store_true")
    options = options.parse_args()
    found, everything = read(options.library)
    named = (re.search(r"-(\d+\.\d+\.\d+)", os.path.basename(options.library))
             or re.search(r"NCCL version (\d+\.\d+\.\d+)", everything.decode("latin-1")))
    version = options.version or (named.group(1) if named else "?")
    texts = sorted((t for t in found if says_something(t.format)), key=lambda t: (family(t), t.format))
    if options.list:
        print("family\tlevel\tsubsys\tfirst_tag\tlast_tag\ttemplate")
        for t in texts:
            line = template(t.format, lambda letter: "{?:%s}" % letter).replace("{{", "{").replace("}}", "}").replace("\t", " ")
            print("\t".join((family(t), t.level, t.subsystems, version, version, line)))
        return 0
    known = Known()
    new = [t for t in texts if not known.has(t.format)]
    lost = list(gone(known, everything, version)) if texts and texts[0].level else []
    if not options.counts:
        for t in new:
            escaped = as_row(t.format).replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
            print('TEXT("%s", %s, "%s", "%s", "", "%s")' % (family(t), t.level or "INFO", t.subsystems or "ALL", version, escaped))
        for family_, level, row in lost:
            print("gone: %s %s: %s" % (family_, level, row))
    print("%s: %d texts, %d known, %d not; %d rows that say they are still printed are not in it"
          % (os.path.basename(options.library), len(texts), len(texts) - len(new), len(new), len(lost)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

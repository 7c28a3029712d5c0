#!/usr/bin/env python3
"""check-parts.py - each member of a growing model's rows is carried (parts.def), or is known to be found again where it comes to."""
import re
import sys
from pathlib import Path

MODEL = Path(__file__).resolve().parent.parent / 'libncclscope/src/model'
IN_PARTS = re.compile(r'^(?:MEMBER\((\w+), \w+, |FOUND\((\w+), )([\w.\[\]]+)\)', re.M)
STRUCT = re.compile(r'^struct nsc_(\w+) \{\n(.*?)^\};', re.M | re.S)


def members_of(body):
    """Names of a struct's members: "uint32_t proc, rank;", "double time_us[2], algbw[2];", "NSC_VEC(struct x) y;"."""
    body = re.sub(r'/\*.*?\*/|\[[^\]]*\]', '', body, flags=re.S)
    for part in body.split(';'):
        words = re.sub(r'NSC_VEC\([^)]*\)', 'vector', part).strip()
        if words:
            first, *more = words.split(',')
            yield from (x.split()[-1] for x in [first] + more)


def main():
    said = {}
    for a, b, name in IN_PARTS.findall((MODEL / 'parts.def').read_text()):
        said.setdefault(a or b, set()).add(re.split(r'[.\[]', name)[0])
    structs = dict(STRUCT.findall((MODEL / 'model.h').read_text()))
    wrong = [f'struct nsc_{t}: {m} is not in parts.def' for t in said for m in members_of(structs[t]) if m not in said[t]]
    print('\n'.join(wrong))
    print(f'{sum(map(len, said.values()))} members, {len(wrong)} not told of')
    return bool(wrong) or len(said) < 20


sys.exit(main())

#!/usr/bin/env python3
"""check-rows.py TOOL ROWS [FOLDER...]: a program that knows the public headers alone tells every fact of `--json`.

ROWS prints the rows that the library lends (rows_dump.c). For each recorded log, and those below FOLDER, the report is put together from them
here, by this file's own reading of docs/contract.md, and must be what the tool writes. A key of the report that is neither told by rows nor
named in NOT_ROWS is an error. A store of the log holds the same rows, table by table."""
import collections
import glob
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

import harness

NOT_ROWS = {'schema', 'tool'}  # who wrote the report, and in which form
wrong = []
checks = 0


def rows_of(program, *arguments):
    tables = collections.defaultdict(list)
    run = subprocess.run([program, *arguments], capture_output=True, timeout=120)
    for line in run.stdout.decode('utf-8', 'replace').splitlines():
        row = json.loads(line)
        tables[row.pop('table')].append(row)
    return tables


def children(tables, table, key, place):
    return [row for row in tables[table] if row[key] == place]


def by_parent(tables):
    """{(table, key): {place: rows}}: quicker than to look through all for each."""
    found = {}
    for table, rows in tables.items():
        for row in rows:
            key = next(iter(row))
            found.setdefault((table, key), collections.defaultdict(list))[row[key]].append(row)
    return found


def without(row, *keys):
    return {k: v for k, v in row.items() if k not in keys}


def place(row):
    return {'source': row['source'], 'line': row['line']} if 'line' in row else None


def report_of(tables):
    of = by_parent(tables)

    def lists(table, key, at):
        return of.get((table, key), {}).get(at, [])

    def id_of(row, key='comm'):
        return tables['comm'][row[key]]['id'] if key in row else None

    def communicator(at, c):
        channels = ('coll', 'collnet', 'nvls', 'p2p', 'p2p_per_peer')
        rings = [(i, r) for i, r in enumerate(tables['ring']) if r['comm'] == at]
        trees = [(i, t) for i, t in enumerate(tables['tree']) if t['comm'] == at]
        return without(c, 'missing_ranks_more', *channels) | {
            'ranks': [without(r, 'comm', 'process', 'pointer') | {'comm': r.get('pointer')} for r in lists('rank', 'comm', at)],
            'missing_ranks': [r['rank'] for r in lists('missing_rank', 'comm', at)],
            'missing_ranks_more': c['missing_ranks_more'] or None, 'channels': {k: c[k] for k in channels if k in c},
            'rings': [without(r, 'comm') | {'ranks': [k['rank'] for k in lists('ring_rank', 'ring', i)]} for i, r in rings],
            'trees': [without(t, 'comm') | {'down': [k['rank'] for k in lists('tree_down', 'tree', i)]} for i, t in trees]}

    def process(at, p):
        version = {'how': p['version_how'], 'value': p.get('version'), 'from': p.get('version_from'), 'to': p.get('version_to')}
        return without(p, 'version_how', 'version', 'version_from', 'version_to') | {
            'gpus': [without(g, 'process') for g in lists('process_gpu', 'process', at)], 'nccl_version': version}

    def link(at, row):
        expected = lists('expected', 'link', at)
        return without(row, 'comm', 'other_comm', 'source', 'line') | {
            'comm': id_of(row), 'candidates': [id_of(row), id_of(row, 'other_comm')] if 'other_comm' in row else None,
            'channels': [c['channel'] for c in lists('link_channel', 'link', at)],
            'expected': without(expected[0], 'link') if expected else None, 'where': place(row)}

    def finding(at, f):
        return without(f, 'comm', 'ranks_more') | {
            'comm': id_of(f), 'ranks_more': f['ranks_more'] or None,
            'cause_ids': [c['cause'] for c in lists('finding_cause', 'finding', at)],
            'ranks': [r['rank'] for r in lists('finding_rank', 'finding', at)],
            'pairs': [[p['a'], p['b']] for p in lists('finding_pair', 'finding', at)],
            'hosts': [h['host'] for h in lists('finding_host', 'finding', at)],
            'evidence': [without(e, 'finding') for e in lists('evidence', 'finding', at)]}

    def test(at, t):
        times = {'in_place' if x['in_place'] else 'out_of_place': without(x, 'collective_test', 'in_place')
                 for x in lists('collective_time', 'collective_test', at)}
        return t | times

    def machine(at, x):
        return without(x, 'source', 'line') | {'hosts': sorted(h['name'] for h in tables['host'] if h.get('machine') == at), 'where': place(x)}

    def pod(at, p):
        return p | {'env': [without(e, 'pod') for e in lists('pod_env', 'pod', at)]}

    def expectation(at, e):
        return without(e, 'comm', 'a', 'b', 'source', 'line') | {'pairs': [[e['a'], e['b']]] if 'a' in e else [], 'where': place(e)}

    def value(f):
        kinds = {'count': int, 'integer': int, 'number': float}
        try:
            return kinds.get(f['type'], str)(f.get('value', ''))
        except ValueError:
            return f['value']

    def events(pattern):
        return [without(e, 'pattern') | {'fields': {f['name']: value(f) for f in lists('event_field', 'event', at)}}
                for at, e in enumerate(tables['event']) if e['pattern'] == pattern]

    def ras(at, c):
        return c | {'ranks': [without(r, 'ras_comm') | ({} if r['missing'] else {'collective_counts': {
            k['collective']: k['calls'] for k in lists('ras_call', 'ras_rank', row)}})
            for row, r in enumerate(tables['ras_rank']) if r['ras_comm'] == at]}

    def topology(at, t):
        cells = [c['path'] for c in lists('topology_cell', 'topology', at)]
        return t | {'matrix': [cells[i:i + t['gpus']] for i in range(0, len(cells), t['gpus'])]}

    def each(table, make):
        return [make(at, row) for at, row in enumerate(tables[table])]
    total = tables['total'][0]

    def releases(of):
        return [r.get('number', r['name']) for r in tables['release'] if r['of'] == of]

    def transports():
        lines = collections.Counter()
        for c in tables['connection']:
            lines[c['transport']] += c['lines']
        return dict(lines)
    totals = without(total, 'flavor', 'pattern_records_more') | {'connections': {c['via']: c['lines'] for c in tables['connection']},
                                                                 'transports': {k: v for k, v in transports().items() if k != 'unknown'}}
    return {
        'verdict': tables['outcome'][0]['verdict'], 'totals': totals, 'flavor': total['flavor'],
        'pattern_records_more': total.get('pattern_records_more'), 'nccl_versions': releases('nccl'), 'cuda_drivers': releases('cuda-driver'),
        'platforms': releases('platform'), 'sources': tables['source'], 'hosts': [without(h, 'machine') for h in tables['host']], 'machines': each('machine', machine),
        'processes': each('process', process), 'communicators': each('comm', communicator), 'links': each('link', link),
        'networks': tables['network'], 'net_devices': tables['net_device'], 'plugins': tables['plugin'],
        'env': each('env', lambda at, e: e | {'values': {v['value']: v['processes'] for v in lists('env_value', 'env', at)}}),
        'warnings': each('warning', lambda at, w: without(w, 'source', 'line') | {'first': place(w)}),
        'findings': each('finding', finding), 'events': events(False), 'pattern_records': events(True), 'ras': each('ras_comm', ras), 'topologies': each('topology', topology),
        'diagnostics': each('diagnostic', lambda at, d: without(d, 'source', 'line') | {'where': place(d)}),
        'pods': each('pod', pod), 'expectations': each('expectation', expectation), 'skipped_rules': tables['skipped_rule'], 'collective_tests': each('collective_test', test)}


def said(x):
    """Without what was not said; numbers as JSON has them, with six decimals at most."""
    if isinstance(x, dict):
        return {k: said(v) for k, v in x.items() if v is not None}
    if isinstance(x, float):
        return float('%.6g' % x)
    return [said(v) for v in x] if isinstance(x, list) else x


def check(name, what, holds, shown=''):
    global checks
    checks += 1
    if not holds:
        wrong.append('%s: %s %s' % (name, what, str(shown)[:500]))


def stored(tool, *arguments):
    """The tables of a new store: {name: rows without what is NULL}."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'a.db')
        subprocess.run([tool, 'scan', '-q', '--db', file, *arguments], capture_output=True, timeout=120)
        db = sqlite3.connect(file)
        db.row_factory = sqlite3.Row
        names = [n for n, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'") if '"row" INTEGER' in sql and n != 'scan_content']
        tables = {name: [dict(row) for row in db.execute('SELECT * FROM "%s" ORDER BY scan, row' % name)] for name in names}
        db.close()
    return {name: [{k: v for k, v in row.items() if v is not None and k not in ('scan', 'row')} for row in rows] for name, rows in tables.items()}


def plain(x):
    """As a store has texts: a tab is a blank."""
    if isinstance(x, str):
        return x.replace('\t', ' ')
    return said({k: plain(v) for k, v in x.items()} if isinstance(x, dict) else x)


def check_store(name, tables, store):
    check(name, 'tables of the store', len(store) >= 30 and set(tables) <= {n if n != 'scan_source' else 'source' for n in store}, list(tables))
    for table, rows in store.items():
        ours = tables['source' if table == 'scan_source' else table]
        check(name, 'rows of ' + table, len(rows) == len(ours), '%d in the store, %d rows' % (len(rows), len(ours)))
        odd = [(a, b) for a, b in zip(rows, ours) if plain(a) != plain(b)]
        check(name, 'store, ' + table, not odd, odd[:1])


def check_facts(tool, program, machine, log):
    """Facts that a model was given are rows, with all that their file says, and tables of a store."""
    name = os.path.basename(machine)
    with open(machine, encoding='utf-8') as file:
        facts = json.load(file)
    tables = rows_of(program, '--facts', machine, log)
    for key, table in (('gpus', 'fact_gpu'), ('pairs', 'fact_pair'), ('nics', 'fact_nic'), ('measured', 'fact_measured'),
                       ('collectives', 'fact_collective'), ('variables', 'fact_variable'), ('skipped', 'fact_skipped')):
        check(name, key, facts.get(key, []) == tables[table], (facts.get(key, [])[:1], tables[table][:1]))
    check(name, 'node', [facts['node']] == tables['fact_node'], tables['fact_node'])
    check_store(name, tables, stored(tool, '--facts', machine, log))
    run = subprocess.run([tool, 'confirm', '--json', '--facts', machine, log], capture_output=True, timeout=120)
    said_ = collections.Counter(pair['verdict'] for pair in json.loads(run.stdout)['pairs'])
    check(name, 'confirmed pairs', (said_ or name != 'h200x4.json') and said_ == collections.Counter(pair['verdict'] for pair in tables['confirmed_pair']), said_)


def main():
    tool, program = sys.argv[1:3]
    below = [path for folder in sys.argv[3:] for path in glob.glob(os.path.join(folder, '**', '*.log*'), recursive=True)]
    logs = sorted(glob.glob(os.path.join(harness.TESTDATA, 'logs', '*', '*.log*'))) + below
    pods = ['--pod', os.path.join(harness.TESTDATA, 'pods', 'settings.json'), '--expect', 'nvlink,no-socket,ranks=8,ranks=7,hosts>1']
    two_nodes = [path for path in logs if 'h200x8-two-nodes' in path]
    for machine in sorted(glob.glob(os.path.join(harness.TESTDATA, 'machines', '*.json'))):
        check_facts(tool, program, machine, logs[0])
    for arguments in [[path] for path in logs] + [pods + [path] for path in two_nodes]:
        name = ' '.join(os.path.basename(a) for a in arguments)
        run = subprocess.run([tool, 'scan', '--json', *arguments], capture_output=True, timeout=120)
        tables = rows_of(program, *arguments)
        report, ours = said(json.loads(run.stdout)), said(report_of(tables))
        check(name, 'pods and expectations', len(arguments) == 1 or (tables['pod_env'] and {e['state'] for e in tables['expectation']} >= {'kept', 'broken'}),
              tables['expectation'])
        check_store(name, tables, stored(tool, *arguments))
        check(name, 'keys without rows', not set(report) - set(ours) - NOT_ROWS, set(report) - set(ours) - NOT_ROWS)
        for key in ours:
            theirs, own = report.get(key, []), ours[key]
            if not isinstance(own, list):
                check(name, key, theirs == own, (theirs, own))
                continue
            check(name, key, len(theirs) == len(own), '%d in the report, %d rows' % (len(theirs), len(own)))
            odd = [(a, b) for a, b in zip(theirs, own) if a != b]
            check(name, key, not odd, odd[:1])
    print('\n'.join(wrong[:40]))
    print('%d checks, %d wrong' % (checks, len(wrong)))
    return 1 if wrong or not checks else 0


sys.exit(main())

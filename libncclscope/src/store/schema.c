/* schema.c - what a store has beside the tables of columns.def; docs/schema.md describes all of it. One table m_<kind> per kind of
 * message is made when its first record comes. */
#include "store/schema.h"

const char nsc_schema_tables[] =
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE scan(id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, tool TEXT NOT NULL, verdict TEXT NOT NULL, "
    "job TEXT) STRICT;"
    "CREATE TABLE source(id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE record(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, line INTEGER NOT NULL, "
    "offset INTEGER NOT NULL,"
    " level TEXT NOT NULL, kind TEXT NOT NULL, host TEXT, pid INTEGER, tid INTEGER, dev INTEGER, time TEXT, message "
    "TEXT NOT NULL, location TEXT, raw_host BLOB, raw_time BLOB, raw_message BLOB, raw_location BLOB) STRICT;";

const char nsc_schema_saved[] =
    "CREATE TABLE IF NOT EXISTS saved_model(scan INTEGER PRIMARY KEY REFERENCES scan, bytes BLOB NOT NULL) STRICT;";

const char nsc_schema_model[] =
    "CREATE TABLE scan_content(scan INTEGER NOT NULL REFERENCES scan, \"row\" INTEGER NOT NULL, source INTEGER NOT "
    "NULL REFERENCES source, PRIMARY KEY(scan, \"row\")) STRICT, WITHOUT ROWID;"
    "CREATE VIEW v_pairs AS SELECT l.scan, c.id AS comm, min(src, dst) AS a, max(src, dst) AS b, path, "
    "group_concat(DISTINCT via) AS via, sum(lines) AS lines"
    " FROM link l LEFT JOIN comm c ON c.scan = l.scan AND c.\"row\" = l.comm"
    " GROUP BY l.scan, l.comm, min(src, dst), max(src, dst), path;"
    "CREATE VIEW v_ranks AS SELECT r.scan, c.id AS comm, r.rank, r.host, p.pod, r.pid, r.cuda_dev, r.nvml_dev, "
    "r.bus_id, r.init_seconds"
    " FROM rank r JOIN comm c ON c.scan = r.scan AND c.\"row\" = r.comm"
    " LEFT JOIN process p ON p.scan = r.scan AND p.\"row\" = r.process;"
    "CREATE VIEW v_env AS SELECT e.scan, e.name, e.value, count(*) AS processes, group_concat(DISTINCT p.host) AS hosts"
    " FROM process_env e LEFT JOIN process p ON p.scan = e.scan AND p.\"row\" = e.process GROUP BY e.scan, e.name, "
    "e.value;"
    "CREATE VIEW v_findings AS SELECT f.scan, f.severity, f.id, f.title, f.cause, f.fix, s.name AS file, e.line"
    " FROM finding f LEFT JOIN evidence e ON e.scan = f.scan AND e.finding = f.\"row\" AND e.\"row\" ="
    " (SELECT min(x.\"row\") FROM evidence x WHERE x.scan = f.scan AND x.finding = f.\"row\")"
    " LEFT JOIN scan_source s ON s.scan = e.scan AND s.\"row\" = e.source ORDER BY f.scan, f.\"row\";";

/* Records of version 1 have texts as the log has them. */
const char nsc_schema_from_1[] = "ALTER TABLE record ADD COLUMN raw_host BLOB;"
                                 "ALTER TABLE record ADD COLUMN raw_time BLOB;"
                                 "ALTER TABLE record ADD COLUMN raw_message BLOB;"
                                 "ALTER TABLE record ADD COLUMN raw_location BLOB;";

/* Version 3 had a scan of all inputs, and no jobs. */
const char nsc_schema_from_3[] = "ALTER TABLE scan ADD COLUMN job TEXT;";

#define OLD(table) "ALTER TABLE " table " RENAME TO old_" table ";"
#define ROW "ROW_NUMBER() OVER (PARTITION BY scan ORDER BY rowid) - 1"
#define PROCESSES "(SELECT scan, id, " ROW " AS place FROM old_proc)"
#define COMMS "(SELECT scan, id, " ROW " AS place FROM old_comm)"

/* Version 2 had some of these tables, written by hand: out of the way with them ... */
const char nsc_schema_from_2[] =
    "DROP VIEW IF EXISTS v_pairs; DROP VIEW IF EXISTS v_ranks; DROP VIEW IF EXISTS v_env; DROP VIEW IF EXISTS "
    "v_findings;"
    "DROP INDEX IF EXISTS link_by_pair; DROP INDEX IF EXISTS rank_by_comm;" OLD("scan_source") OLD("proc") OLD("comm")
        OLD("rank") OLD("link") OLD("env") OLD("warning") OLD("finding") OLD("evidence");

/* ... and what they hold into the new ones. */
const char nsc_schema_copy_2[] =
    "INSERT INTO scan_source(scan, \"row\", name, bytes, lines, nccl_lines, unknown_lines, torn_lines, problem)"
    " SELECT scan, position, name, bytes, lines, nccl_lines, unknown_lines, torn_lines, problem FROM old_scan_source;"
    "INSERT INTO scan_content SELECT scan, position, source FROM old_scan_source WHERE source IS NOT NULL;"
    "INSERT INTO process(scan, \"row\", host, pid, version, launcher_rank, pod, cuda_driver, network, platform)"
    " SELECT scan, " ROW ", host, pid, nccl_version, launcher_rank, pod, cuda_driver, network, platform FROM old_proc;"
    "INSERT INTO comm(scan, \"row\", id, members, nranks, nnodes, parent, state)"
    " SELECT scan, " ROW ", id, members, nranks, nnodes, parent, state FROM old_comm;"
    "INSERT INTO rank(scan, \"row\", comm, rank, process, host, pid, cuda_dev, nvml_dev, bus_id, local_rank, "
    "local_ranks, "
    "init_seconds)"
    " SELECT r.scan, ROW_NUMBER() OVER (PARTITION BY r.scan ORDER BY r.rowid) - 1, c.place, r.rank, p.place, o.host, "
    "o.pid, r.cuda_dev, r.nvml_dev, r.bus_id, r.local_rank, r.local_ranks, r.init_seconds FROM old_rank r"
    " LEFT JOIN " COMMS " c ON c.scan = r.scan AND c.id = r.comm LEFT JOIN " PROCESSES
    " p ON p.scan = r.scan AND p.id = r.proc LEFT JOIN old_proc o ON o.scan = r.scan AND o.id = r.proc;"
    "INSERT INTO link(scan, \"row\", comm, attribution, src, dst, direction, via, transport, network, gdrdma, lines, "
    "path, source, line)"
    " SELECT l.scan, ROW_NUMBER() OVER (PARTITION BY l.scan ORDER BY l.rowid) - 1, c.place, l.attribution, l.src, "
    "l.dst, "
    "l.direction, l.via, l.transport, l.network, l.gdrdma, l.lines, l.path, l.position, l.line FROM old_link l"
    " LEFT JOIN " COMMS " c ON c.scan = l.scan AND c.id = l.comm;"
    "INSERT INTO process_env(scan, \"row\", process, name, value, source, line)"
    " SELECT e.scan, ROW_NUMBER() OVER (PARTITION BY e.scan ORDER BY e.rowid) - 1, p.place, e.name, e.value, "
    "e.position, "
    "e.line FROM old_env e LEFT JOIN " PROCESSES " p ON p.scan = e.scan AND p.id = e.proc;"
    "INSERT INTO warning SELECT scan, " ROW ", text, lines, position, line FROM old_warning;"
    "INSERT INTO finding(scan, \"row\", id, severity, confidence, class, caused_by, title, count, cause, fix, cost)"
    " SELECT scan, position, id, severity, confidence, class, caused_by, title, count, cause, fix, cost FROM "
    "old_finding;"
    "INSERT INTO evidence SELECT scan, " ROW ", finding, position, line, text FROM old_evidence;"
    "DROP TABLE old_scan_source; DROP TABLE old_rank; DROP TABLE old_proc; DROP TABLE old_comm; DROP TABLE old_link;"
    "DROP TABLE old_env; DROP TABLE old_warning; DROP TABLE old_finding; DROP TABLE old_evidence;";

const char nsc_schema_indexes[] = "CREATE INDEX IF NOT EXISTS record_by_line ON record(source, line);"
                                  "CREATE INDEX IF NOT EXISTS record_unknown ON record(kind) WHERE kind = 'UNKNOWN';"
                                  "CREATE INDEX IF NOT EXISTS link_by_pair ON link(scan, comm, src, dst);"
                                  "CREATE INDEX IF NOT EXISTS rank_by_comm ON rank(scan, comm, rank);";

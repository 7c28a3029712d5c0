/* pods.c - `kubectl get pod -o json` to pods of the model, by SQLite's JSON functions; and which process runs in which. */
#include "base/document.h"
#include "base/file.h"
#include "model/path.h"
#include "model/variables.h"
#include "ncclscope/model.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 64 * 1024 * 1024 };

/* The document lies in doc(j). Elements that are no objects are passed over: what is there still counts. */
static const char tables_sql[] =
    "CREATE TABLE item AS SELECT e.value AS j FROM doc, json_each(doc.j, '$.items') e WHERE e.type = 'object' "
    "UNION ALL SELECT j FROM doc WHERE json_type(j, '$.items') IS NULL;"
    "CREATE TABLE pod AS SELECT json_extract(j, '$.metadata.name') AS name, json_extract(j, '$.spec.hostname') AS "
    "hostname, "
    "json_extract(j, '$.spec.nodeName') AS node, "
    "coalesce(json_extract(j, '$.spec.nodeSelector.\"node.kubernetes.io/instance-type\"'), "
    "json_extract(j, '$.spec.nodeSelector.\"beta.kubernetes.io/instance-type\"')) AS instance, "
    "json_extract(j, '$.spec.hostIPC') AS ipc, json_extract(j, '$.spec.hostNetwork') AS network, "
    "json_extract(j, '$.spec.shareProcessNamespace') AS share, json_extract(j, '$.spec.containers') AS containers, "
    "CASE json_type(j, '$.spec.volumes') WHEN 'array' THEN json_extract(j, '$.spec.volumes') ELSE '[]' END AS volumes "
    "FROM item "
    "WHERE json_type(j, '$.spec.containers') = 'array' AND (json_extract(j, '$.kind') = 'Pod' OR json_type(j, "
    "'$.kind') IS NULL);"
    "DROP TABLE item;"
    "CREATE TABLE container AS SELECT p.rowid AS pod, c.key AS nth, json_extract(c.value, '$.name') AS name, c.value "
    "AS j "
    "FROM pod p, json_each(p.containers) c WHERE c.type = 'object';"
    "CREATE TABLE lim AS SELECT k.pod, k.nth, l.key AS name, CAST(l.value AS TEXT) AS value FROM container k, "
    "json_each(k.j, '$.resources.limits') l;"
    "CREATE TABLE mount AS SELECT k.pod, json_extract(m.value, '$.name') AS name FROM container k, "
    "json_each(k.j, '$.volumeMounts') m WHERE m.type = 'object' AND json_extract(m.value, '$.mountPath') = '/dev/shm';"
    "CREATE TABLE volume AS SELECT p.rowid AS pod, json_extract(v.value, '$.name') AS name, json_extract(v.value, "
    "'$.emptyDir.medium') AS medium, json_extract(v.value, '$.emptyDir.sizeLimit') AS size FROM pod p, "
    "json_each(p.volumes) v "
    "WHERE v.type = 'object';"
    "CREATE TABLE cap AS SELECT k.pod, c.value AS name FROM container k, json_each(k.j, "
    "'$.securityContext.capabilities.add') c;"
    "CREATE TABLE env AS SELECT k.pod, k.nth, k.name AS container, e.key AS n, json_extract(e.value, '$.name') AS "
    "name, "
    "CAST(json_extract(e.value, '$.value') AS TEXT) AS value FROM container k, json_each(k.j, '$.env') e WHERE e.type "
    "= "
    "'object' AND json_type(e.value, '$.name') = 'text';"
    "CREATE INDEX lim_of ON lim(pod, name); CREATE INDEX mount_of ON mount(pod); CREATE INDEX volume_of ON volume(pod, "
    "name);"
    "CREATE INDEX cap_of ON cap(pod); CREATE INDEX env_of ON env(pod, nth, name, n); CREATE INDEX container_of ON "
    "container(pod);"
    "CREATE TABLE gpu AS SELECT DISTINCT pod, nth FROM lim WHERE name GLOB 'nvidia.com/*';"
    "CREATE INDEX gpu_of ON gpu(pod, nth);";

#define LIMIT_OF(what) \
    "(SELECT CASE WHEN count(*) > 0 AND total(l.value) < 1e9 THEN CAST(total(l.value) AS INTEGER) END FROM lim l " \
    "WHERE " \
    "l.pod = p.rowid " \
    "AND l.name = '" what "' AND l.value <> '' AND l.value NOT GLOB '*[^0-9]*')"
static const char pods_sql[] =
    "SELECT p.name, p.hostname, p.node, p.instance, " LIMIT_OF("nvidia.com/gpu") ", " LIMIT_OF(
        "vpc.amazonaws.com/efa") ", "
                                 "EXISTS(SELECT 1 FROM lim l WHERE l.pod = p.rowid AND l.name GLOB "
                                 "'nvidia.com/mig-*'), p.ipc, p.network, p.share, "
                                 "EXISTS(SELECT 1 FROM mount m WHERE m.pod = p.rowid), "
                                 "(SELECT v.medium FROM mount m JOIN volume v ON v.pod = m.pod AND v.name = m.name "
                                 "WHERE m.pod = p.rowid LIMIT 1), "
                                 "(SELECT v.size FROM mount m JOIN volume v ON v.pod = m.pod AND v.name = m.name WHERE "
                                 "m.pod = p.rowid LIMIT 1), "
                                 "EXISTS(SELECT 1 FROM cap c WHERE c.pod = p.rowid AND c.name IN ('IPC_LOCK', "
                                 "'CAP_IPC_LOCK', 'ALL')), "
                                 "EXISTS(SELECT 1 FROM container k WHERE k.pod = p.rowid AND json_extract(k.j, "
                                 "'$.securityContext.privileged')), "
                                 "EXISTS(SELECT 1 FROM container k WHERE k.pod = p.rowid AND json_type(k.j, "
                                 "'$.envFrom') = 'array'), p.rowid "
                                 "FROM pod p ORDER BY p.rowid";
#undef LIMIT_OF

/* Of a container with GPUs, where there is one: the others are sidecars. Of equal names the last counts, as for Kubernetes. */
static const char env_sql[] =
    "SELECT e.container, e.name, e.value, e.pod FROM env e WHERE (e.name GLOB 'NCCL_*' OR e.name GLOB 'FI_*' OR e.name "
    "GLOB "
    "'RDMAV_*') AND NOT EXISTS(SELECT 1 FROM env x WHERE x.pod = e.pod AND x.nth = e.nth AND x.name = e.name AND x.n > "
    "e.n) "
    "AND (EXISTS(SELECT 1 FROM gpu g WHERE g.pod = e.pod AND g.nth = e.nth) OR NOT EXISTS(SELECT 1 FROM gpu g WHERE "
    "g.pod = e.pod)) ORDER BY e.pod, e.nth, e.n";

/* "64Gi", "512M", "1073741824" to bytes; -1: no such quantity. */
static int64_t bytes_of(nsc_text t)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"Ki", 1024.0},
                 {"Mi", 1048576.0},
                 {"Gi", 1073741824.0},
                 {"Ti", 1099511627776.0},
                 {"Pi", 1125899906842624.0},
                 {"k", 1000.0},
                 {"M", 1e6},
                 {"G", 1e9},
                 {"T", 1e12},
                 {"P", 1e15},
                 {"m", 1e-3},
                 {"", 1.0}};
    size_t n = 0;
    double v;
    while (n < t.len && (nsc_is_digit(t.ptr[n]) || t.ptr[n] == '.'))
        n++;
    if (n + 1 < t.len && (t.ptr[n] == 'e' || t.ptr[n] == 'E') && nsc_is_digit(t.ptr[n + 1])) /* "1e9" */
        for (n++; n < t.len && nsc_is_digit(t.ptr[n]);)
            n++;
    if (!n || !nsc_to_f64((nsc_text){t.ptr, n}, &v))
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (nsc_text_is(nsc_text_from(t, n), units[i].unit) && v * units[i].factor < 9e18)
            return (int64_t)(v * units[i].factor);
    return -1;
}

static nsc_str column(struct ncclscope_model *m, sqlite3_stmt *q, int i)
{
    const char *text = (const char *)sqlite3_column_text(q, i);
    return text ? nsc_keep(m, (nsc_text){text, (size_t)sqlite3_column_bytes(q, i)}) : 0;
}

static int64_t count_in(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, i);
}

static void take_pod(struct ncclscope_model *m, sqlite3_stmt *q, nsc_str file, struct nsc_pod *p)
{
    *p = (struct nsc_pod){.name = column(m, q, 0),
                          .hostname = column(m, q, 1),
                          .node = column(m, q, 2),
                          .instance = column(m, q, 3),
                          .gpus = count_in(q, 4),
                          .efa = count_in(q, 5),
                          .mig = sqlite3_column_int(q, 6),
                          .host_ipc = sqlite3_column_int(q, 7),
                          .host_network = sqlite3_column_int(q, 8),
                          .share_processes = sqlite3_column_int(q, 9),
                          .shm_volume = sqlite3_column_int(q, 10),
                          .shm_medium = column(m, q, 11),
                          .shm_size_text = column(m, q, 12),
                          .ipc_lock = sqlite3_column_int(q, 13),
                          .privileged = sqlite3_column_int(q, 14),
                          .env_from = sqlite3_column_int(q, 15),
                          .file = file};
    p->shm_size = p->shm_size_text ? bytes_of(nsc_say(m, p->shm_size_text)) : -1;
}

/* SQLITE_DONE, or what went wrong. */
static int take_pods(struct ncclscope_model *m, sqlite3 *db, nsc_str file)
{
    sqlite3_stmt *q = NULL;
    int step = sqlite3_prepare_v2(db, pods_sql, -1, &q, NULL);
    while (step == SQLITE_OK && (step = sqlite3_step(q)) == SQLITE_ROW) {
        struct nsc_pod *p = nsc_vec_push(&m->pods);
        step = p ? SQLITE_OK : SQLITE_NOMEM;
        if (p)
            take_pod(m, q, file, p);
    }
    sqlite3_finalize(q);
    return step;
}

static int take_variables(struct ncclscope_model *m, sqlite3 *db, size_t first)
{
    sqlite3_stmt *q = NULL;
    int step = sqlite3_prepare_v2(db, env_sql, -1, &q, NULL);
    while (step == SQLITE_OK && (step = sqlite3_step(q)) == SQLITE_ROW) {
        struct nsc_pod_env *e = nsc_vec_push(&m->pod_env);
        step = e ? SQLITE_OK : SQLITE_NOMEM;
        if (e)
            *e = (struct nsc_pod_env){(uint32_t)(first + (size_t)sqlite3_column_int64(q, 3) - 1), column(m, q, 0),
                                      column(m, q, 1), column(m, q, 2)};
    }
    sqlite3_finalize(q);
    return step;
}

static int add_pods(struct ncclscope_model *m, sqlite3 *db, const char *json, size_t len, nsc_str file,
                    ncclscope_error *err)
{
    size_t before = m->pods.len;
    bool fine = nsc_load_document(db, json, len) && sqlite3_exec(db, tables_sql, NULL, NULL, NULL) == SQLITE_OK &&
                take_pods(m, db, file) == SQLITE_DONE && take_variables(m, db, before) == SQLITE_DONE;
    if (m->no_memory || (!fine && sqlite3_errcode(db) == SQLITE_NOMEM))
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    if (!fine)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "is not JSON as `kubectl get pod -o json` writes it (%s)",
                        sqlite3_errmsg(db));
    return m->pods.len > before
               ? NCCLSCOPE_OK
               : nsc_fail(err, NCCLSCOPE_EDATA, 0, "holds no pod; `kubectl get pod -o json` writes what is wanted");
}

/* ---- which process runs in which pod ---- */

/* "node-0.train.svc" is "node-0" to NCCL, which prints what stands before the first dot; and 63 letters at most. */
static nsc_str host_of(struct ncclscope_model *m, nsc_str name)
{
    nsc_text t = nsc_say(m, name);
    const char *dot = t.len ? memchr(t.ptr, '.', t.len) : NULL;
    t.len = dot ? (size_t)(dot - t.ptr) : t.len;
    t.len = t.len > 63 ? 63 : t.len;
    return nsc_keep(m, t);
}

enum { BY_NAME, BY_HOST };

/* Pods by their names and by the host names that their processes see; NSC_NONE - 1: several have that host name. */
static void index_pods(struct ncclscope_model *m, struct nsc_map *by)
{
    for (uint32_t i = 0; i < m->pods.len; i++) {
        const struct nsc_pod *x = &m->pods.item[i];
        nsc_str host = host_of(m, x->host_network ? x->node : x->hostname ? x->hostname : x->name);
        struct nsc_key at = {host, 0, BY_HOST};
        uint32_t other = nsc_map_get(by, at);
        bool fine = !nsc_map_put(by, (struct nsc_key){m->pods.item[i].name, 0, BY_NAME}, i) &&
                    !nsc_map_put(by, at, other == NSC_NONE ? i : NSC_NONE - 1);
        m->no_memory = m->no_memory || !fine;
    }
}

static uint32_t pod_of(const struct nsc_map *by, const struct nsc_proc *p)
{
    uint32_t i = nsc_map_get(by, p->pod ? (struct nsc_key){p->pod, 0, BY_NAME} : (struct nsc_key){p->host, 0, BY_HOST});
    return i == NSC_NONE - 1 ? NSC_NONE : i;
}

/* Variables that containers of one pod set to different values. */
static void find_disputed(struct ncclscope_model *m, struct nsc_map *disputed)
{
    struct nsc_map values = {0};
    for (size_t i = 0; i < m->pod_env.len; i++) {
        const struct nsc_pod_env *e = &m->pod_env.item[i];
        struct nsc_key key = {e->pod, e->name, 0};
        uint32_t before = nsc_map_get(&values, key);
        bool other = before != NSC_NONE && before != e->value;
        if (nsc_map_put(&values, key, e->value) || (other && nsc_map_put(disputed, key, 0)))
            m->no_memory = true;
    }
    nsc_map_free(&values);
}

/* A variable of the spec that the log cannot show counts as set. `from`: where those of its pod begin. */
static void take_env(struct ncclscope_model *m, uint32_t proc, size_t from, const struct nsc_map *disputed)
{
    for (size_t i = from; i < m->pod_env.len && m->pod_env.item[i].pod == m->procs.item[proc].in_pod; i++) {
        const struct nsc_pod_env *e = &m->pod_env.item[i];
        nsc_text name = nsc_say(m, e->name);
        bool silent = !nsc_would_be_seen(m, proc, name);
        if (!e->value || !silent || nsc_env_of(m, proc, name.ptr) || !nsc_variable_reader(name) ||
            !nsc_takes_level(name, nsc_say(m, e->value)) ||
            nsc_map_get(disputed, (struct nsc_key){e->pod, e->name, 0}) != NSC_NONE)
            continue;
        int64_t taken;
        char number[32];
        bool other = nsc_is_taken_as(name, nsc_say(m, e->value), &taken);
        snprintf(number, sizeof number, "%lld", other ? (long long)taken : 0);
        struct nsc_env *x = nsc_vec_push(&m->env);
        if (!x || nsc_map_put(&m->env_by, (struct nsc_key){proc, e->name, 0}, (uint32_t)(m->env.len - 1))) {
            m->no_memory = true;
            return;
        }
        *x = (struct nsc_env){.proc = proc,
                              .name = e->name,
                              .value = other ? nsc_keep(m, nsc_text_of(number)) : e->value,
                              .by_pod = true};
    }
}

/* Where the variables of a pod begin: they lie by pod. */
static size_t env_of_pod(const struct ncclscope_model *m, uint32_t pod)
{
    size_t low = 0, high = m->pod_env.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (m->pod_env.item[mid].pod < pod)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* "-x NCCL_IB_DISABLE=1", "NCCL_P2P_DISABLE=1 python ...": variables of a command in the input count as set in its processes, where
 * NCCL's own lines would not show them. */
static void take_command(struct ncclscope_model *m, const struct nsc_own_record *r)
{
    nsc_text rest = nsc_said(m, r, "text");
    for (nsc_text word = nsc_next_word(&rest); word.len; word = nsc_next_word(&rest)) {
        ptrdiff_t eq = nsc_text_starts(word, "NCCL_") ? nsc_text_find(word, "=") : -1;
        nsc_text name = {word.ptr, eq > 0 ? (size_t)eq : 0}, value = nsc_text_from(word, (size_t)(eq + 1));
        if (!name.len || !value.len || strchr("\"'$<`", value.ptr[0]) || !nsc_variable_reader(name) ||
            !nsc_takes_level(name, value))
            continue;
        nsc_str n = nsc_keep(m, name), v = nsc_keep(m, value);
        for (size_t i = 0; i < m->proc_order.len; i++) {
            uint32_t proc = m->proc_order.item[i];
            struct nsc_key key = {proc, n, 0};
            if (m->procs.item[proc].source != r->where.source || nsc_map_get(&m->env_by, key) != NSC_NONE ||
                nsc_would_be_seen(m, proc, name))
                continue;
            struct nsc_env *x = nsc_vec_push(&m->env);
            if (!x || nsc_map_put(&m->env_by, key, (uint32_t)(m->env.len - 1))) {
                m->no_memory = true;
                return;
            }
            *x = (struct nsc_env){
                .proc = proc, .name = n, .value = v, .by_pod = true, .by_command = true, .where = r->where};
        }
    }
}

void nsc_take_commands(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_COMMAND)
            take_command(m, &m->happened.item[i]);
}

static void add_process(struct ncclscope_model *m, struct nsc_pod *pod, uint32_t proc)
{
    if (pod->processes++)
        m->procs.item[pod->last_process].next_in_pod = proc;
    else
        pod->first_process = proc;
    pod->last_process = proc;
    m->procs.item[proc].next_in_pod = NSC_NONE;
}

int ncclscope_model_pods(ncclscope_model *m, const char *path, ncclscope_error *err)
{
    unsigned before = nsc_failed_allocations();
    sqlite3 *db = NULL;
    char *json = NULL;
    size_t len = 0;
    int rc = nsc_read_whole(path, LARGEST, &json, &len, err);
    if (rc == NCCLSCOPE_OK &&
        sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        rc = nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    rc = rc ? rc : add_pods(m, db, json, len, nsc_keep(m, nsc_text_of(path)), err);
    sqlite3_close(db);
    nsc_free(json);
    struct nsc_map by = {0}, disputed = {0};
    index_pods(m, &by);
    find_disputed(m, &disputed);
    for (size_t i = 0; rc == NCCLSCOPE_OK && i < m->proc_order.len; i++) {
        struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        p->in_pod = pod_of(&by, p);
        if (p->in_pod == NSC_NONE)
            continue;
        add_process(m, &m->pods.item[p->in_pod], m->proc_order.item[i]);
        p->platform = p->platform ? p->platform : m->pods.item[p->in_pod].instance;
        take_env(m, m->proc_order.item[i], env_of_pod(m, p->in_pod), &disputed);
    }
    nsc_map_free(&by);
    nsc_map_free(&disputed);
    if (rc == NCCLSCOPE_OK) {
        nsc_find_machines(m);
        nsc_find_paths(m);
        nsc_lay_rows(m);
    }
    m->no_memory = m->no_memory || nsc_failed_allocations() != before;
    return m->no_memory ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory") : rc;
}

/* pods.c - `kubectl get pod -o json` to pods of the model, by SQLite's JSON functions; and which process runs in which. */
#include "model/path.h"
#include "model/variables.h"
#include "ncclscope/model.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 64 * 1024 * 1024 };

static const char pods_sql[] =
    "WITH item(j) AS (SELECT value FROM json_each(?1, '$.items') UNION ALL SELECT ?1 WHERE json_type(?1, '$.items') IS "
    "NULL), "
    "pod(j) AS (SELECT j FROM item WHERE json_extract(j, '$.kind') = 'Pod' OR (json_type(j, '$.kind') IS NULL AND "
    "json_type(j, '$.spec.containers') = 'array')), "
    "shm(j, name) AS (SELECT j, (SELECT json_extract(v.value, '$.name') FROM json_each(j, '$.spec.containers') c, "
    "json_each(c.value, '$.volumeMounts') v WHERE json_extract(v.value, '$.mountPath') = '/dev/shm' LIMIT 1) FROM pod) "
    "SELECT json_extract(j, '$.metadata.name'), json_extract(j, '$.spec.hostname'), json_extract(j, "
    "'$.spec.nodeName'), "
    "coalesce(json_extract(j, '$.spec.nodeSelector.\"node.kubernetes.io/instance-type\"'), "
    "json_extract(j, '$.spec.nodeSelector.\"beta.kubernetes.io/instance-type\"')), "
    "(SELECT sum(CAST(json_extract(c.value, '$.resources.limits.\"nvidia.com/gpu\"') AS INTEGER)) FROM json_each(j, "
    "'$.spec.containers') c), "
    "(SELECT sum(CAST(json_extract(c.value, '$.resources.limits.\"vpc.amazonaws.com/efa\"') AS INTEGER)) FROM "
    "json_each(j, "
    "'$.spec.containers') c), "
    "EXISTS(SELECT 1 FROM json_each(j, '$.spec.containers') c, json_each(c.value, '$.resources.limits') l WHERE l.key "
    "LIKE "
    "'nvidia.com/mig-%'), "
    "json_extract(j, '$.spec.hostIPC'), json_extract(j, '$.spec.hostNetwork'), json_extract(j, "
    "'$.spec.shareProcessNamespace'), name IS NOT NULL, "
    "(SELECT json_extract(v.value, '$.emptyDir.medium') FROM json_each(j, '$.spec.volumes') v WHERE "
    "json_extract(v.value, '$.name') = name), "
    "(SELECT json_extract(v.value, '$.emptyDir.sizeLimit') FROM json_each(j, '$.spec.volumes') v WHERE "
    "json_extract(v.value, '$.name') = name), "
    "EXISTS(SELECT 1 FROM json_each(j, '$.spec.containers') c, json_each(c.value, "
    "'$.securityContext.capabilities.add') a "
    "WHERE a.value IN ('IPC_LOCK', 'CAP_IPC_LOCK', 'ALL')), "
    "EXISTS(SELECT 1 FROM json_each(j, '$.spec.containers') c WHERE json_extract(c.value, "
    "'$.securityContext.privileged')), "
    "EXISTS(SELECT 1 FROM json_each(j, '$.spec.containers') c WHERE json_type(c.value, '$.envFrom') = 'array'), j FROM "
    "shm";

static const char env_sql[] =
    "SELECT json_extract(c.value, '$.name'), json_extract(e.value, '$.name'), CAST(json_extract(e.value, '$.value') AS "
    "TEXT) FROM "
    "json_each(?1, '$.spec.containers') c, json_each(c.value, '$.env') e WHERE json_extract(e.value, '$.name') GLOB "
    "'NCCL_*' OR json_extract(e.value, '$.name') GLOB 'FI_*' OR json_extract(e.value, '$.name') GLOB 'RDMAV_*'";

/* "64Gi", "512M", "1073741824" to bytes; -1: no such quantity. */
static int64_t bytes_of(nsc_text t)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0},
                 {"k", 1000.0},  {"M", 1e6},        {"G", 1e9},           {"T", 1e12},
                 {"", 1.0}};
    size_t n = 0;
    double v;
    while (n < t.len && (nsc_is_digit(t.ptr[n]) || t.ptr[n] == '.'))
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

static int add_env(struct ncclscope_model *m, sqlite3 *db, sqlite3_stmt *pod, uint32_t index)
{
    sqlite3_stmt *q = NULL;
    int step = sqlite3_prepare_v2(db, env_sql, -1, &q, NULL);
    if (step == SQLITE_OK)
        step = sqlite3_bind_value(q, 1, sqlite3_column_value(pod, 16));
    while (step == SQLITE_OK || step == SQLITE_ROW) {
        step = sqlite3_step(q);
        if (step != SQLITE_ROW)
            break;
        struct nsc_pod_env *e = nsc_vec_push(&m->pod_env);
        if (!e) {
            m->no_memory = true;
            break;
        }
        *e = (struct nsc_pod_env){index, column(m, q, 0), column(m, q, 1), column(m, q, 2)};
    }
    sqlite3_finalize(q);
    return step;
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

static int add_pods(struct ncclscope_model *m, sqlite3 *db, const char *json, size_t len, nsc_str file,
                    ncclscope_error *err)
{
    sqlite3_stmt *q = NULL;
    size_t before = m->pods.len;
    int step = sqlite3_prepare_v2(db, pods_sql, -1, &q, NULL);
    if (step == SQLITE_OK)
        step = sqlite3_bind_text(q, 1, json, (int)len, SQLITE_STATIC);
    while (step == SQLITE_OK || step == SQLITE_ROW || step == SQLITE_DONE) {
        if ((step = sqlite3_step(q)) != SQLITE_ROW)
            break;
        struct nsc_pod *p = nsc_vec_push(&m->pods);
        if (!p) {
            m->no_memory = true;
            break;
        }
        take_pod(m, q, file, p);
        step = add_env(m, db, q, (uint32_t)(m->pods.len - 1));
    }
    sqlite3_finalize(q);
    if (m->no_memory || step == SQLITE_NOMEM)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    if (step != SQLITE_DONE)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "is not JSON as `kubectl get pod -o json` writes it (%s)",
                        sqlite3_errmsg(db));
    return m->pods.len > before
               ? NCCLSCOPE_OK
               : nsc_fail(err, NCCLSCOPE_EDATA, 0, "holds no pod; `kubectl get pod -o json` writes what is wanted");
}

static int read_file(const char *path, char **json, size_t *len, ncclscope_error *err)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "rbe") : stdin;
    size_t size = 0;
    int rc = NCCLSCOPE_OK;
    *json = NULL;
    *len = 0;
    if (!f)
        return nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot open: %s", strerror(errno));
    do {
        if (*len + 65536 > size) {
            size = size ? size * 2 : 262144;
            char *bigger = size <= 2 * LARGEST ? nsc_realloc(*json, size) : NULL;
            if (!bigger) {
                rc = nsc_fail(err, NCCLSCOPE_EDATA, 0, "is too large for a list of pods");
                break;
            }
            *json = bigger;
        }
        *len += fread(*json + *len, 1, size - *len, f);
    } while (!feof(f) && !ferror(f));
    if (rc == NCCLSCOPE_OK && ferror(f))
        rc = nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot read: %s", strerror(errno));
    if (f != stdin)
        fclose(f);
    return rc;
}

/* ---- which process runs in which pod ---- */

/* "node-0.train.svc" and "node-0" are one: what NCCL prints ends at the first dot. */
static bool is_host(const struct ncclscope_model *m, nsc_str name, nsc_str host)
{
    nsc_text a = nsc_say(m, name), b = nsc_say(m, host);
    const char *dot = a.len ? memchr(a.ptr, '.', a.len) : NULL;
    a.len = dot ? (size_t)(dot - a.ptr) : a.len;
    return a.len && nsc_text_eq(a, b);
}

static uint32_t pod_of(const struct ncclscope_model *m, const struct nsc_proc *p)
{
    uint32_t found = NSC_NONE;
    for (uint32_t i = 0; i < m->pods.len; i++) {
        const struct nsc_pod *x = &m->pods.item[i];
        bool named = p->pod && p->pod == x->name;
        bool host =
            x->host_network ? is_host(m, x->node, p->host) : is_host(m, x->hostname ? x->hostname : x->name, p->host);
        if (named)
            return i;
        if (!p->pod && host && found != NSC_NONE)
            return NSC_NONE; /* two pods answer to that name */
        found = !p->pod && host ? i : found;
    }
    return found;
}

/* A variable of the spec that the log cannot show counts as set. */
static void take_env(struct ncclscope_model *m, uint32_t proc)
{
    for (size_t i = 0; i < m->pod_env.len; i++) {
        const struct nsc_pod_env *e = &m->pod_env.item[i];
        const char *name = nsc_say(m, e->name).ptr;
        bool silent = !strcmp(name, "NCCL_NET") || !nsc_env_is_visible(m, proc);
        if (e->pod != m->procs.item[proc].in_pod || !e->value || !silent || nsc_env_of(m, proc, name) ||
            !nsc_variable_reader(nsc_say(m, e->name)) || nsc_value_wanted(nsc_say(m, e->name), nsc_say(m, e->value)))
            continue;
        struct nsc_env *x = nsc_vec_push(&m->env);
        if (!x || nsc_map_put(&m->env_by, (struct nsc_key){proc, e->name, 0}, (uint32_t)(m->env.len - 1))) {
            m->no_memory = true;
            return;
        }
        *x = (struct nsc_env){.proc = proc, .name = e->name, .value = e->value, .by_pod = true};
    }
}

int ncclscope_model_pods(ncclscope_model *m, const char *path, ncclscope_error *err)
{
    sqlite3 *db = NULL;
    char *json = NULL;
    size_t len = 0;
    int rc = read_file(path, &json, &len, err);
    if (rc == NCCLSCOPE_OK &&
        sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        rc = nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    rc = rc ? rc : add_pods(m, db, json, len, nsc_keep(m, nsc_text_of(path)), err);
    sqlite3_close(db);
    nsc_free(json);
    for (size_t i = 0; rc == NCCLSCOPE_OK && i < m->proc_order.len; i++) {
        struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        p->in_pod = pod_of(m, p);
        if (p->in_pod == NSC_NONE)
            continue;
        m->pods.item[p->in_pod].processes++;
        p->platform = p->platform ? p->platform : m->pods.item[p->in_pod].instance;
        take_env(m, m->proc_order.item[i]);
    }
    if (rc == NCCLSCOPE_OK)
        nsc_find_machines(m);
    return rc == NCCLSCOPE_OK && m->no_memory ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory") : rc;
}

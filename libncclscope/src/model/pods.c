/* pods.c - `kubectl get pod -o json` to pods of the model; and which process runs in which. */
#include "base/document.h"
#include "base/file.h"
#include "base/neutral.h"
#include "model/path.h"
#include "model/variables.h"
#include "ncclscope/model.h"

#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 64 * 1024 * 1024 };

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

static nsc_str keep_text(struct ncclscope_model *m, const json_t *j)
{
    return nsc_keep(m, nsc_text_of_json(j));
}

/* A quantity: "8", or 8. */
static nsc_str keep_quantity(struct ncclscope_model *m, const json_t *j)
{
    char text[40];
    int64_t number;
    int n = nsc_int_of_json(j, &number) ? nsc_format(text, sizeof text, "%lld", (long long)number)
            : json_is_real(j)           ? nsc_format(text, sizeof text, "%g", json_real_value(j))
                                        : 0;
    return json_is_number(j) ? nsc_keep(m, (nsc_text){text, (size_t)n}) : keep_text(m, j);
}

/* What all containers may have of it together; -1: none asks for it. */
static int64_t limit_of(const json_t *containers, const char *what)
{
    enum { MOST = 1000000000 };
    int64_t sum = -1;
    for (size_t i = 0; i < json_array_size(containers); i++) {
        const json_t *limits = nsc_member_at(json_array_get(containers, i), "resources.limits"),
                     *asked = json_object_get(limits, what);
        int64_t n = -1;
        if (json_is_string(asked) ? !nsc_to_i64(nsc_text_of_json(asked), &n) : !nsc_int_of_json(asked, &n))
            n = -1;
        if (n >= 0 && n < MOST)
            sum = n + (sum < 0 ? 0 : sum);
    }
    return sum < MOST ? sum : -1;
}

static bool asks_for(const json_t *container, const char *begins)
{
    const char *key;
    json_t *value, *limits = (json_t *)(uintptr_t)nsc_member_at(container, "resources.limits");
    json_object_foreach(limits, key, value) if (!strncmp(key, begins, strlen(begins))) return true;
    return false;
}

static bool any_container(const json_t *containers, bool (*is)(const json_t *container))
{
    for (size_t i = 0; i < json_array_size(containers); i++)
        if (is(json_array_get(containers, i)))
            return true;
    return false;
}

static bool has_gpus(const json_t *container)
{
    return asks_for(container, "nvidia.com/");
}

static bool has_mig(const json_t *container)
{
    return asks_for(container, "nvidia.com/mig-");
}

static bool is_privileged(const json_t *container)
{
    return json_is_true(nsc_member_at(container, "securityContext.privileged"));
}

static bool takes_env_from(const json_t *container)
{
    return json_is_array(json_object_get(container, "envFrom"));
}

static bool may_lock(const json_t *container)
{
    static const char *const names[] = {"IPC_LOCK", "CAP_IPC_LOCK", "ALL"};
    const json_t *add = nsc_member_at(container, "securityContext.capabilities.add");
    for (size_t i = 0; i < json_array_size(add); i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            if (nsc_text_is(nsc_text_of_json(json_array_get(add, i)), names[k]))
                return true;
    return false;
}

static const json_t *volume_called(const json_t *volumes, nsc_text name)
{
    for (size_t i = 0; name.len && i < json_array_size(volumes); i++)
        if (nsc_text_eq(nsc_text_of_json(json_object_get(json_array_get(volumes, i), "name")), name))
            return json_array_get(volumes, i);
    return NULL;
}

/* What is mounted at /dev/shm, in the first container that has something there. */
static void take_shm(struct ncclscope_model *m, const json_t *containers, const json_t *volumes, struct nsc_pod *p)
{
    const json_t *volume = NULL;
    for (size_t i = 0; i < json_array_size(containers); i++) {
        const json_t *mounts = json_object_get(json_array_get(containers, i), "volumeMounts");
        for (size_t k = 0; k < json_array_size(mounts); k++) {
            const json_t *mount = json_array_get(mounts, k);
            if (!nsc_text_is(nsc_text_of_json(json_object_get(mount, "mountPath")), "/dev/shm"))
                continue;
            p->shm_volume = true;
            volume = volume ? volume : volume_called(volumes, nsc_text_of_json(json_object_get(mount, "name")));
        }
    }
    p->shm_medium = keep_text(m, nsc_member_at(volume, "emptyDir.medium"));
    p->shm_size_text = keep_quantity(m, nsc_member_at(volume, "emptyDir.sizeLimit"));
    p->shm_size = p->shm_size_text ? bytes_of(nsc_say(m, p->shm_size_text)) : -1;
}

static void take_pod(struct ncclscope_model *m, const json_t *item, nsc_str file)
{
    const json_t *spec = json_object_get(item, "spec"), *containers = json_object_get(spec, "containers"),
                 *selector = json_object_get(spec, "nodeSelector");
    nsc_str type = keep_text(m, json_object_get(selector, "node.kubernetes.io/instance-type"));
    struct nsc_pod *p = nsc_vec_push(&m->pods);
    if (!p) {
        m->no_memory = true;
        return;
    }
    *p = (struct nsc_pod){.name = keep_text(m, nsc_member_at(item, "metadata.name")),
                          .hostname = keep_text(m, json_object_get(spec, "hostname")),
                          .node = keep_text(m, json_object_get(spec, "nodeName")),
                          .instance =
                              type ? type : keep_text(m, json_object_get(selector, "beta.kubernetes.io/instance-type")),
                          .gpus = limit_of(containers, "nvidia.com/gpu"),
                          .efa = limit_of(containers, "vpc.amazonaws.com/efa"),
                          .mig = any_container(containers, has_mig),
                          .host_ipc = json_is_true(json_object_get(spec, "hostIPC")),
                          .host_network = json_is_true(json_object_get(spec, "hostNetwork")),
                          .share_processes = json_is_true(json_object_get(spec, "shareProcessNamespace")),
                          .ipc_lock = any_container(containers, may_lock),
                          .privileged = any_container(containers, is_privileged),
                          .env_from = any_container(containers, takes_env_from),
                          .file = file};
    take_shm(m, containers, json_object_get(spec, "volumes"), p);
}

static bool is_of_network(nsc_text name)
{
    return nsc_text_starts(name, "NCCL_") || nsc_text_starts(name, "FI_") || nsc_text_starts(name, "RDMAV_");
}

static nsc_str variable_of(struct ncclscope_model *m, const json_t *e)
{
    nsc_text name = nsc_text_of_json(json_object_get(e, "name"));
    return is_of_network(name) ? nsc_keep(m, name) : 0;
}

/* Of equal names the last counts, as for Kubernetes. */
static void find_last(struct ncclscope_model *m, const json_t *list, struct nsc_map *last)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        nsc_str name = variable_of(m, json_array_get(list, i));
        if (name && nsc_map_put(last, (struct nsc_key){name, 0, 0}, (uint32_t)i))
            m->no_memory = true;
    }
}

static void take_variables_of(struct ncclscope_model *m, const json_t *container, uint32_t pod)
{
    const json_t *list = json_object_get(container, "env");
    struct nsc_map last = {0};
    find_last(m, list, &last);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *e = json_array_get(list, i);
        nsc_str name = variable_of(m, e);
        if (!name || nsc_map_get(&last, (struct nsc_key){name, 0, 0}) != i)
            continue;
        struct nsc_pod_env *x = nsc_vec_push(&m->pod_env);
        if (x)
            *x = (struct nsc_pod_env){pod, keep_text(m, json_object_get(container, "name")), name,
                                      keep_quantity(m, json_object_get(e, "value"))};
        m->no_memory = m->no_memory || !x;
    }
    nsc_map_free(&last);
}

/* Of a container with GPUs, where there is one: the others are sidecars. */
static void take_variables(struct ncclscope_model *m, const json_t *containers, uint32_t pod)
{
    bool some = any_container(containers, has_gpus);
    for (size_t i = 0; i < json_array_size(containers); i++)
        if (!some || has_gpus(json_array_get(containers, i)))
            take_variables_of(m, json_array_get(containers, i), pod);
}

static void take_item(struct ncclscope_model *m, const json_t *item, nsc_str file)
{
    const json_t *kind = json_object_get(item, "kind"), *containers = nsc_member_at(item, "spec.containers");
    if (!json_is_array(containers) || (kind && !nsc_text_is(nsc_text_of_json(kind), "Pod")))
        return;
    take_pod(m, item, file);
    if (!m->no_memory)
        take_variables(m, containers, (uint32_t)(m->pods.len - 1));
}

/* Elements that are no pods are passed over: what is there still counts. */
static int add_pods(struct ncclscope_model *m, const char *json, size_t len, nsc_str file, ncclscope_error *err)
{
    size_t before = m->pods.len;
    json_t *doc = NULL;
    json_error_t why;
    int rc = nsc_document(&doc, json, len, &why);
    const json_t *items = json_object_get(doc, "items");
    for (size_t i = 0; i < json_array_size(items); i++)
        take_item(m, json_array_get(items, i), file);
    if (doc && !items)
        take_item(m, doc, file);
    json_decref(doc);
    if (m->no_memory || rc == NCCLSCOPE_ENOMEM)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    if (rc)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "is not JSON as `kubectl get pod -o json` writes it (line %d: %s)",
                        why.line, why.text);
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

/* Does it start the processes of other hosts, too? */
static bool is_launcher(const struct nsc_own_record *r)
{
    static const char *const names[] = {"mpirun", "mpiexec", "prterun",    "srun", "horovodrun", "deepspeed",
                                        "jsrun",  "aprun",   "accelerate", "pdsh", NULL};
    return nsc_text_has_any(r->where.text, names);
}

/* "[user@node-3 ~]$ NCCL_IB_HCA=mlx5_0 python ...": the name of the host whose shell this is and for which alone it starts something, or
 * len 0. */
static nsc_text shell_of(const struct nsc_own_record *r)
{
    ptrdiff_t at = nsc_text_find(r->where.text, "@"), set = nsc_text_find(r->where.text, "NCCL_");
    nsc_text name =
        at > 0 && at < set && !is_launcher(r) ? nsc_text_from(r->where.text, (size_t)at + 1) : (nsc_text){NULL, 0};
    size_t n = 0;
    while (n < name.len && !strchr(" \t:~])/$#", name.ptr[n]))
        n++;
    return (nsc_text){name.ptr, n};
}

/* Commands of an input: the hosts on which its processes run, to the first of these in proc_order, where they stand together; and which
 * variables are set, of all or of one of them. */
struct commands {
    struct nsc_map hosts, set;
    struct nsc_map listed; /* variable and source to its value in lists of variables; NSC_NONE - 1: lists differ */
    bool by_host;          /* some are typed on these hosts: those that are typed on others are for those */
};

static nsc_str host_of_shell(const struct ncclscope_model *m, const struct commands *k, const struct nsc_own_record *r)
{
    nsc_text shell = shell_of(r);
    nsc_str host = shell.len ? nsc_intern_find(&m->strings, shell) : 0;
    return host && nsc_map_get(&k->hosts, (struct nsc_key){host, 0, 0}) != NSC_NONE ? host : 0;
}

/* A variable of a command counts as set in the processes of its input, or of its host, where NCCL's own lines would not show it: by the
 * last command above the process's first line, as there may be several runs; or by the first at all. */
static void set_by_command(struct ncclscope_model *m, const struct commands *k, const struct nsc_own_record *r,
                           nsc_str host, nsc_str n, nsc_str v)
{
    for (size_t i = host ? nsc_map_get(&k->hosts, (struct nsc_key){host, 0, 0}) : 0; i < m->proc_order.len; i++) {
        uint32_t proc = m->proc_order.item[i];
        struct nsc_key key = {proc, n, 0};
        if (host && m->procs.item[proc].host != host)
            return;
        if (m->procs.item[proc].source != r->where.source || nsc_would_be_seen(m, proc, nsc_say(m, n)))
            continue;
        uint32_t is = nsc_map_get(&m->env_by, key);
        if (is != NSC_NONE && m->env.item[is].by_command && r->where.line < m->procs.item[proc].first.line) {
            m->env.item[is].value = v;
            m->env.item[is].where = r->where;
        }
        if (is != NSC_NONE)
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

/* "- NCCL_SOCKET_IFNAME=eth0": a line of a list of variables; of which processes they are no line says. */
static bool is_of_list(const struct nsc_own_record *r)
{
    nsc_text rest = r->where.text, word = nsc_next_word(&rest);
    if (nsc_text_is(word, "-") || nsc_text_is(word, "*") || nsc_text_is(word, "ENV"))
        word = nsc_next_word(&rest);
    return nsc_text_starts(word, "NCCL_") && !nsc_next_word(&rest).len;
}

static void note_list(struct ncclscope_model *m, const struct nsc_own_record *r, struct commands *k)
{
    nsc_text rest = nsc_said(m, r, "text"), name, value;
    while (nsc_next_setting(&rest, &name, &value)) {
        struct nsc_key key = {nsc_keep(m, name), r->where.source, 0};
        nsc_str is = nsc_keep(m, value);
        uint32_t before = nsc_map_get(&k->listed, key);
        if (nsc_map_put(&k->listed, key, before == NSC_NONE || before == is ? is : NSC_NONE - 1))
            m->no_memory = true;
    }
}

/* "-x NCCL_IB_DISABLE=1", "NCCL_P2P_DISABLE=1 python ...". */
static void take_command(struct ncclscope_model *m, const struct nsc_own_record *r, struct commands *k)
{
    enum { RUNS = 16 }; /* of one input: so many commands that set a variable are looked at */
    nsc_str host = host_of_shell(m, k, r);
    nsc_text rest = nsc_words_of_command(m, r), name, value;
    rest.len = k->by_host && !host && shell_of(r).len ? 0 : rest.len;
    while (nsc_next_setting(&rest, &name, &value)) {
        if (!value.len || strchr("\"'$<`", value.ptr[0]) || !nsc_variable_reader(name) || !nsc_takes_level(name, value))
            continue;
        struct nsc_key key = {nsc_keep(m, name), r->where.source, host};
        if (is_of_list(r) && nsc_map_get(&k->listed, (struct nsc_key){key.a, key.b, 0}) == NSC_NONE - 1)
            continue; /* "#CA ... #CB ...": each of a container of its own */
        uint32_t before = nsc_map_get(&k->set, key);
        before = before == NSC_NONE ? 0 : before;
        if (before == RUNS)
            continue;
        set_by_command(m, k, r, host, (nsc_str)key.a, nsc_keep(m, value));
        m->no_memory = nsc_map_put(&k->set, key, before + 1) || m->no_memory;
    }
}

void nsc_take_commands(struct ncclscope_model *m)
{
    struct commands k = {0};
    for (size_t i = 0; i < m->proc_order.len; i++)
        if (nsc_map_get(&k.hosts, (struct nsc_key){m->procs.item[m->proc_order.item[i]].host, 0, 0}) == NSC_NONE &&
            nsc_map_put(&k.hosts, (struct nsc_key){m->procs.item[m->proc_order.item[i]].host, 0, 0}, (uint32_t)i))
            m->no_memory = true;
    for (size_t i = 0; i < m->happened.len && !k.by_host; i++)
        k.by_host = m->happened.item[i].number == NCCLSCOPE_KIND_COMMAND && host_of_shell(m, &k, &m->happened.item[i]);
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_COMMAND && is_of_list(&m->happened.item[i]))
            note_list(m, &m->happened.item[i], &k);
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_COMMAND)
            take_command(m, &m->happened.item[i], &k);
    nsc_map_free(&k.listed);
    nsc_map_free(&k.hosts);
    nsc_map_free(&k.set);
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
    if (!m || !path)
        return nsc_null(err);
    if (!m->finished)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "pods are added to a model that is finished");
    unsigned before = nsc_failed_allocations();
    char *json = NULL;
    size_t len = 0;
    int rc = nsc_read_whole(path, LARGEST, &json, &len, err);
    rc = rc ? rc : add_pods(m, json, len, nsc_keep(m, nsc_text_of(path)), err);
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

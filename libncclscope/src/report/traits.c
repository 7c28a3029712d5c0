/* traits.c - a model and its findings to traits. */
#include "report/traits.h"

#include "base/neutral.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static nsc_text keep(struct nsc_traits *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static nsc_text keep(struct nsc_traits *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = nsc_vformat(NULL, 0, format, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n;
    char *buf = nsc_arena_alloc(&t->arena, len + 1);
    va_start(args, format);
    if (buf)
        nsc_vformat(buf, len + 1, format, args);
    va_end(args);
    t->no_memory = t->no_memory || !buf;
    return (nsc_text){buf, buf ? len : 0};
}

static void add(struct nsc_traits *t, enum nsc_section section, nsc_text key, nsc_text value, uint64_t n, uint64_t of)
{
    struct nsc_trait *x = nsc_vec_push(&t->list);
    if (x)
        *x = (struct nsc_trait){section, key, value, n, of};
    else
        t->no_memory = true;
}

/* ---- what there is ---- */

static void versions(struct nsc_traits *t, const struct ncclscope_model *m)
{
    uint64_t all = m->proc_order.len;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        uint32_t proc = m->proc_order.item[i];
        const struct nsc_proc *p = &m->procs.item[proc];
        struct nsc_version v = nsc_version_of(m, proc);
        char range[60];
        nsc_version_spell(&v, range, sizeof range);
        if (v.how)
            add(t, NSC_TRAIT_VERSIONS, NSC_TEXT("NCCL"), v.text ? nsc_say(m, v.text) : keep(t, "%s (inferred)", range),
                1, all);
        if (p->driver)
            add(t, NSC_TRAIT_VERSIONS, NSC_TEXT("CUDA driver"), keep(t, "%llu", (unsigned long long)p->driver), 1, 0);
        if (p->platform)
            add(t, NSC_TRAIT_VERSIONS, NSC_TEXT("machine type"), nsc_say(m, p->platform), 1, 0);
        if (p->network)
            add(t, NSC_TRAIT_NETWORKS, NSC_TEXT("network"), nsc_say(m, p->network), 1, all);
    }
    for (size_t i = 0; i < m->plugins.len; i++) {
        const struct nsc_plugin *p = &m->plugins.item[i];
        if (nsc_text_is(nsc_say(m, p->state), "loaded"))
            add(t, NSC_TRAIT_VERSIONS, keep(t, "%s plugin", nsc_say(m, p->kind).ptr),
                keep(t, "%s %s", nsc_say(m, p->name).ptr, nsc_say(m, p->version).ptr), p->procs, 0);
    }
}

static const char *shape_of(const struct nsc_comm *c)
{
    static const char *const names[] = {"",          ", all of the job", ", consecutive",
                                        ", strided", ", pairs",          ", without a pattern"};
    return names[c->shape];
}

static void job(struct nsc_traits *t, const struct ncclscope_model *m)
{
    int64_t largest = 0;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *c = &m->comms.item[i];
        largest = c->nranks > largest ? c->nranks : largest;
        add(t, NSC_TRAIT_JOB, keep(t, "communicators of %lld ranks%s", (long long)c->nranks, shape_of(c)),
            nsc_text_of(nsc_state_name(c->state)), 1, 1);
    }
    if (largest)
        add(t, NSC_TRAIT_JOB, NSC_TEXT("ranks"), keep(t, "%lld", (long long)largest), 1, 0);
    add(t, NSC_TRAIT_JOB, NSC_TEXT("host names"), keep(t, "%zu", m->hosts.len), 1, 0);
    add(t, NSC_TRAIT_JOB, NSC_TEXT("processes"), keep(t, "%zu", m->proc_order.len), 1, 0);
}

/* Says where a run was, not what it was. */
static bool is_local(nsc_text name)
{
    return nsc_text_is(name, "NCCL_COMM_ID") || nsc_text_is(name, "NCCL_DEBUG_FILE");
}

static void environment(struct nsc_traits *t, const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->env.len; i++)
        if (!is_local(nsc_say(m, m->env.item[i].name)))
            add(t, NSC_TRAIT_ENVIRONMENT, nsc_say(m, m->env.item[i].name), nsc_say(m, m->env.item[i].value), 1,
                m->proc_order.len);
}

/* "NET/IB/0(3)/GDRDMA" to "NET/IB/GDRDMA": which device and proxy differs from pair to pair. */
static nsc_text without_numbers(struct nsc_traits *t, nsc_text via)
{
    char *buf = nsc_arena_alloc(&t->arena, via.len + 1);
    size_t n = 0;
    t->no_memory = t->no_memory || !buf;
    for (size_t i = 0; buf && i < via.len; i++) {
        size_t k = i + 1;
        while (via.ptr[i] == '/' && k < via.len && (nsc_is_digit(via.ptr[k]) || strchr("()[]", via.ptr[k])))
            k++;
        bool number = k > i + 1 && (k == via.len || via.ptr[k] == '/');
        if (number)
            i = k - 1;
        else
            buf[n++] = via.ptr[i];
    }
    return buf ? keep(t, "via %.*s", (int)n, buf) : (nsc_text){NULL, 0};
}

/* "nvlink 8, socket 5" of the pairs of one communicator. */
static nsc_text pairs_of(struct nsc_traits *t, const struct ncclscope_model *m, uint32_t comm)
{
    uint64_t pairs[NSC_PATH_UNKNOWN + 1] = {0};
    struct nsc_map seen = {0};
    for (size_t i = nsc_links_of(m, comm); i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (nsc_comm_of_link(m, l) != comm)
            break;
        struct nsc_known_path p = l->known;
        struct nsc_key key = {l->src < l->dst ? l->src : l->dst, l->src < l->dst ? l->dst : l->src, p.path};
        if (nsc_map_get(&seen, key) != NSC_NONE)
            continue;
        t->no_memory = t->no_memory || nsc_map_put(&seen, key, 0);
        pairs[p.path]++;
    }
    nsc_map_free(&seen);
    char buf[300] = "none seen";
    size_t n = 0;
    for (int p = 0; p <= NSC_PATH_UNKNOWN; p++)
        if (pairs[p])
            n += (size_t)snprintf(buf + n, sizeof buf - n, "%s%s %llu", n ? ", " : "", nsc_path_name((enum nsc_path)p),
                                  (unsigned long long)pairs[p]);
    return keep(t, "%s", buf);
}

/* "24 collective, 32 point to point": those that the log says. */
static nsc_text channels_of(struct nsc_traits *t, const struct nsc_rank *r)
{
    char nvls[40] = "", p2p[40] = "";
    if (r->nvls >= 0)
        snprintf(nvls, sizeof nvls, ", %lld NVLS", (long long)r->nvls);
    if (r->p2p >= 0)
        snprintf(p2p, sizeof p2p, ", %lld point to point", (long long)r->p2p);
    return keep(t, "%lld collective%s%s", (long long)r->coll, nvls, p2p);
}

static void paths(struct nsc_traits *t, const struct ncclscope_model *m)
{
    for (uint32_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *c = &m->comms.item[i];
        const struct nsc_rank *r = c->count ? &m->ranks.item[m->members.item[c->first]] : NULL;
        nsc_text key = keep(t, "%lld ranks%s", (long long)c->nranks, shape_of(c));
        add(t, NSC_TRAIT_PATHS, keep(t, "pairs of %.*s", (int)key.len, key.ptr), pairs_of(t, m, i), 1, 1);
        if (r && r->coll >= 0)
            add(t, NSC_TRAIT_CHANNELS, key, channels_of(t, r), 1, 0);
    }
    for (size_t i = 0; i < m->connections.len; i++)
        add(t, NSC_TRAIT_PATHS, without_numbers(t, nsc_say(m, m->connections.item[i].text)), NSC_TEXT("used"), 1, 0);
}

static void devices(struct nsc_traits *t, const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->devices.len;) { /* by host and network */
        size_t end = i;
        while (end < m->devices.len && m->devices.item[end].host == m->devices.item[i].host &&
               m->devices.item[end].net == m->devices.item[i].net)
            end++;
        add(t, NSC_TRAIT_NETWORKS, keep(t, "%s devices of a host", nsc_say(m, m->devices.item[i].net).ptr),
            keep(t, "%zu", end - i), 1, 0);
        i = end;
    }
}

static bool is_of_name(char ch)
{
    return nsc_is_digit(ch) || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '-' || ch == '_';
}

/* "rack7-1" to "rack7-{n}", as shapes of warnings have it. */
static nsc_text name_in_shape(struct nsc_traits *t, nsc_text name)
{
    char buf[400];
    size_t n = 0;
    for (size_t i = 0; i < name.len && n + 4 < sizeof buf; i++) {
        bool begins = !i || (!nsc_is_digit(name.ptr[i - 1]) &&
                             !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", name.ptr[i - 1]));
        if (!nsc_is_digit(name.ptr[i]) || !begins) {
            buf[n++] = name.ptr[i];
            continue;
        }
        memcpy(buf + n, "{n}", 3);
        n += 3;
        while (i + 1 < name.len && (nsc_is_digit(name.ptr[i + 1]) || strchr("abcdefx.:", name.ptr[i + 1])))
            i++;
    }
    return keep(t, "%.*s", (int)n, buf);
}

/* "Connection closed by remote peer node01<{n}>" to "... {host}<{n}>", for the hosts of this input. */
static nsc_text without_hosts(struct nsc_traits *t, const struct ncclscope_model *m, nsc_text shape)
{
    for (size_t h = 0; h < m->hosts.len; h++) {
        nsc_text name = name_in_shape(t, nsc_say(m, m->hosts.item[h].name));
        ptrdiff_t at = name.len ? nsc_text_find(shape, name.ptr) : -1;
        if (at < 0 || (at > 0 && is_of_name(shape.ptr[at - 1])) ||
            ((size_t)at + name.len < shape.len && is_of_name(shape.ptr[(size_t)at + name.len])))
            continue;
        nsc_text rest = nsc_text_from(shape, (size_t)at + name.len);
        return keep(t, "%.*s{host}%.*s", (int)at, shape.ptr, (int)rest.len, rest.ptr);
    }
    return shape;
}

static void findings(struct nsc_traits *t, const struct ncclscope_model *m, const struct ncclscope_findings *f)
{
    for (size_t i = 0; i < f->list.len; i++) {
        const struct nsc_finding *x = &f->list.item[i];
        add(t, NSC_TRAIT_FINDINGS, nsc_text_of(x->rule->id),
            keep(t, "%s, %s%s%s", nsc_severity_name(x->severity), x->cls, x->caused_by ? ", by " : "",
                 x->caused_by ? nsc_words_of_id(x->caused_by) : ""),
            1, 0);
    }
    for (size_t i = 0; i < m->warnings.len; i++)
        add(t, NSC_TRAIT_WARNINGS, without_hosts(t, m, nsc_say(m, m->warnings.item[i].shape)), NSC_TEXT("printed"), 1,
            0);
}

/* ---- one trait for each key ---- */

int nsc_compare_traits(const struct nsc_trait *a, const struct nsc_trait *b)
{
    return a->section != b->section ? (a->section < b->section ? -1 : 1) : nsc_compare(a->key, b->key);
}

static int by_value(const void *a, const void *b)
{
    const struct nsc_trait *x = a, *y = b;
    int c = nsc_compare_traits(x, y);
    return c ? c : nsc_compare(x->value, y->value);
}

/* One value of a key: "nvlink 8", "simple (3 of 8)", "nvlink 4 (2 times)". */
static nsc_text say_value(struct nsc_traits *t, const struct nsc_trait *x, uint64_t same)
{
    int len = (int)x->value.len;
    const char *value = x->value.ptr ? x->value.ptr : "";
    if (x->of > 1 && same != x->of)
        return keep(t, "%.*s (%llu of %llu)", len, value, (unsigned long long)same, (unsigned long long)x->of);
    return x->of == 1 && same > 1 ? keep(t, "%.*s (%llu times)", len, value, (unsigned long long)same) : x->value;
}

/* Entries [from, to) of one key to one: its values, sorted, each once. */
static struct nsc_trait join(struct nsc_traits *t, size_t from, size_t to)
{
    struct nsc_trait all = t->list.item[from];
    size_t size = 1, n = 0;
    for (size_t i = from; i < to; i++)
        size += t->list.item[i].value.len + 64;
    char *whole = from + 1 < to ? nsc_arena_alloc(&t->arena, size) : NULL;
    for (size_t i = from; i < to;) {
        uint64_t same = 0;
        size_t end = i;
        for (; end < to && nsc_text_eq(t->list.item[end].value, t->list.item[i].value); end++)
            same += t->list.item[end].n;
        nsc_text one = say_value(t, &t->list.item[i], same);
        if (i == from && end == to) { /* the usual case: one value */
            all.value = one;
            return all;
        }
        if (whole)
            n += (size_t)snprintf(whole + n, size - n, "%s%.*s", n ? "; " : "", (int)one.len, one.ptr ? one.ptr : "");
        i = end;
    }
    t->no_memory = t->no_memory || !whole;
    all.value = (nsc_text){whole, whole ? n : 0};
    return all;
}

void nsc_find_traits(struct nsc_traits *t, const struct ncclscope_model *m, const struct ncclscope_findings *f)
{
    *t = (struct nsc_traits){0};
    versions(t, m);
    job(t, m);
    environment(t, m);
    paths(t, m);
    devices(t, m);
    findings(t, m, f);
    if (t->list.len)
        qsort(t->list.item, t->list.len, sizeof *t->list.item, by_value);
    size_t n = 0;
    for (size_t i = 0; i < t->list.len;) {
        size_t end = i;
        while (end < t->list.len && !nsc_compare_traits(&t->list.item[end], &t->list.item[i]))
            end++;
        t->list.item[n++] = join(t, i, end);
        i = end;
    }
    t->list.len = n;
}

void nsc_traits_free(struct nsc_traits *t)
{
    nsc_vec_free(&t->list);
    nsc_arena_free(&t->arena);
}

const char *nsc_section_name(enum nsc_section s)
{
    static const char *const names[] = {"versions", "job",      "environment", "paths",
                                        "channels", "networks", "findings",    "warnings"};
    return names[s];
}

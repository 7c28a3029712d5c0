/* rules_spec.c - what the pods' specs say: variables that nobody reads, values that NCCL ignores, what NCCL needs and the pod lacks. */
#include "model/variables.h"
#include "rules/ask.h"

/* ---- variables ---- */

static void name_pod_hosts(struct nsc_case *c, struct nsc_finding *f, uint32_t pod)
{
    const struct nsc_pod *p = &c->m->pods.item[pod];
    for (uint32_t i = p->processes ? p->first_process : NSC_NONE; i != NSC_NONE; i = c->m->procs.item[i].next_in_pod)
        nsc_name_host(c, f, c->m->procs.item[i].host);
}

static void tell_unread(struct nsc_case *c, struct nsc_finding *f, const struct nsc_pod_env *e)
{
    nsc_text name = nsc_say(c->m, e->name);
    bool known = !strcmp(name.ptr, "NCCL_P2P_DIRECT_READ") || !strcmp(name.ptr, "NCCL_P2P_DIRECT_WRITE");
    const char *like = known ? NULL : nsc_variable_like(name);
    f->confidence = known ? "certain" : like ? "likely" : "possible";
    f->severity = known || like ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE;
    nsc_explain_with(c, f, known ? NSC_SPEC_UNREAD : like ? NSC_SPEC_MISSPELT : NSC_SPEC_STRANGE, like, NULL);
}

void nsc_tell_spec_variables(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->pod_env.len; i++) {
        const struct nsc_pod_env *e = &m->pod_env.item[i];
        nsc_text name = nsc_say(m, e->name);
        int64_t taken;
        bool unread = nsc_text_starts(name, "NCCL_") && !nsc_variable_reader(name);
        bool no_level = e->value && !nsc_takes_level(name, nsc_say(m, e->value));
        bool other = e->value && nsc_is_taken_as(name, nsc_say(m, e->value), &taken);
        if (!unread && !no_level && !other)
            continue;
        struct nsc_finding *f = nsc_found_about(c, e->name);
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "configuration", "certain");
            nsc_set_about(c, f, e->name);
            if (unread)
                tell_unread(c, f, e);
            else if (no_level)
                nsc_explain_by(c, f, NSC_SPEC_NO_LEVEL);
            else
                nsc_explain_with(c, f, taken ? NSC_SPEC_NUMBER : NSC_SPEC_ZERO, nsc_words(c, "%lld", (long long)taken),
                                 NULL);
        }
        bool again = f->count && m->pod_env.item[i - 1].pod == e->pod && m->pod_env.item[i - 1].name == e->name;
        f->count += !again; /* pods, not containers */
        name_pod_hosts(c, f, e->pod);
        if (f->count == 1)
            f->title = nsc_words(c, "%s=%s, in the spec of pod %s, %s", name.ptr,
                                 e->value ? nsc_say(m, e->value).ptr : "...", nsc_say(m, m->pods.item[e->pod].name).ptr,
                                 unread     ? "is read by nobody"
                                 : no_level ? "is no value that NCCL takes"
                                            : nsc_words(c, "is %lld to NCCL", (long long)taken));
    }
    for (size_t i = c->f->list.len; i > 0 && c->f->list.item[i - 1].rule == c->rule; i--) {
        struct nsc_finding *f = &c->f->list.item[i - 1];
        if (f->about && f->count > 1)
            f->title = nsc_words(c, "%s; and %llu more pods have it", f->title, (unsigned long long)f->count - 1);
    }
}

/* Copied on from old instructions: newer plugins and libfabric need none of these. */
void nsc_tell_obsolete_in_specs(struct nsc_case *c)
{
    static const char *const names[] = {"FI_EFA_USE_DEVICE_RDMA", "FI_EFA_FORK_SAFE", "RDMAV_FORK_SAFE"};
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->pod_env.len; i++) {
        const struct nsc_pod_env *e = &m->pod_env.item[i];
        bool old = false;
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            old = old || nsc_text_is(nsc_say(m, e->name), names[k]);
        if (!old)
            continue;
        struct nsc_finding *f = nsc_found_about(c, e->name);
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "configuration", "likely");
        nsc_set_about(c, f, e->name);
        f->count++;
        f->title = nsc_words(c, "%s, in the spec of pod %s, is no longer needed", nsc_say(m, e->name).ptr,
                             nsc_say(m, m->pods.item[e->pod].name).ptr);
        nsc_explain_by(c, f, 0);
        name_pod_hosts(c, f, e->pod);
    }
}

/* ---- what NCCL needs ---- */

enum { DEFAULT_SHM = 64 * 1024 * 1024, SMALL_SHM = 1024 * 1024 * 1024 };

const char *nsc_shm_of_pod(struct nsc_case *c, const struct nsc_pod *p)
{
    const char *name = nsc_say(c->m, p->name).ptr;
    if (p->host_ipc && !p->shm_volume)
        return NULL; /* the node's own */
    if (!p->shm_volume)
        return nsc_words(c, "pod %s has no volume at /dev/shm: the container runtime gives it %d MiB", name,
                         DEFAULT_SHM / 1024 / 1024);
    if (p->shm_size >= 0 && p->shm_size < SMALL_SHM)
        return nsc_words(c, "pod %s has a /dev/shm of %s", name, nsc_say(c->m, p->shm_size_text).ptr);
    return NULL;
}

/* One finding for what is wrong with however many pods: the first is named. */
static void lacks(struct nsc_case *c, size_t *at, uint32_t pod, const char *title, int reason)
{
    struct nsc_finding *f =
        *at ? &c->f->list.item[*at - 1] : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "configuration", "possible");
    if (c->f->no_memory)
        return;
    if (!*at) {
        *at = c->f->list.len;
        f->title = title;
        nsc_explain_by(c, f, reason);
    }
    f->count++;
    name_pod_hosts(c, f, pod);
}

static void say_how_many(struct nsc_case *c, size_t at)
{
    struct nsc_finding *f = at ? &c->f->list.item[at - 1] : NULL;
    if (f && f->count > 1)
        f->title = nsc_words(c, "%s; likewise for %llu more pods", f->title, (unsigned long long)f->count - 1);
}

void nsc_rule_pod_spec(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    size_t shm_at = 0, lock_at = 0;
    for (uint32_t i = 0; i < m->pods.len; i++) {
        const struct nsc_pod *p = &m->pods.item[i];
        const char *shm = p->gpus > 1 ? nsc_shm_of_pod(c, p) : NULL;
        if (shm)
            lacks(c, &shm_at, i, shm, NSC_POD_SHM);
        if (p->efa > 0 && !p->ipc_lock && !p->privileged)
            lacks(c, &lock_at, i, nsc_words(c, "pod %s has EFA devices and no IPC_LOCK", nsc_say(m, p->name).ptr),
                  NSC_POD_LOCK);
    }
    say_how_many(c, shm_at);
    say_how_many(c, lock_at);
}

/* Pods that ask for fewer EFA devices than their share of the machine has. */
void nsc_tell_few_efa(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (uint32_t i = 0; i < m->pods.len; i++) {
        const struct nsc_pod *p = &m->pods.item[i];
        const struct nsc_platform *pf = p->instance ? nsc_platform_of(nsc_say(m, p->instance)) : NULL;
        int64_t share = pf && p->gpus > 0 ? (int64_t)pf->nics * p->gpus / pf->gpus : 0;
        if (p->efa < 0 || p->efa >= share)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "configuration", "likely");
            f->title =
                nsc_words(c, "Pod %s asks for %lld EFA devices; its %lld GPUs of a %s have %lld beside them",
                          nsc_say(m, p->name).ptr, (long long)p->efa, (long long)p->gpus, pf->name, (long long)share);
            nsc_explain_with(c, f, NSC_FEWER_ASKED, nsc_words(c, "%lld", (long long)share), pf->source);
        }
        f->count++;
        name_pod_hosts(c, f, i);
    }
}

/* rules_p2p.c - P2P: how data moves, over what, and what stands in its way. */
#include "read/changes.h"
#include "rules/ask.h"
#include "rules/expect.h"
#include "rules/questions.h"

/* ---- what the driver forbids ---- */

static bool is_refusal(ncclscope_kind kind)
{
    return kind == NCCLSCOPE_KIND_P2P_DRIVER_OFF || kind == NCCLSCOPE_KIND_P2P_REFUSED ||
           kind == NCCLSCOPE_KIND_P2P_QUERY_FAILED || kind == NCCLSCOPE_KIND_P2P_NO_ACCESS ||
           kind == NCCLSCOPE_KIND_LEGACY_IPC_NO;
}

/* The GPUs that a line names, once for each pair, by index or by bus id. False: it names none. */
static bool count_refused(const struct ncclscope_model *m, const struct nsc_event *e, struct nsc_map pairs[2])
{
    nsc_text rest = nsc_say(m, e->text), one = nsc_next_word(&rest), other = nsc_next_word(&rest);
    if (!other.len)
        return false;
    uint64_t a = nsc_hash(one.ptr, one.len), b = nsc_hash(other.ptr, other.len);
    nsc_map_put(&pairs[e->kind == NCCLSCOPE_KIND_P2P_DRIVER_OFF || e->kind == NCCLSCOPE_KIND_P2P_NO_ACCESS],
                (struct nsc_key){m->procs.item[e->proc].host, a < b ? a : b, a < b ? b : a}, 0);
    return true;
}

static bool shows_nvlink(const struct ncclscope_model *m, nsc_str host)
{
    for (size_t i = 0; i < m->gpu_nodes.len; i++)
        if (m->gpu_nodes.item[i].host == host && m->gpu_nodes.item[i].nvlink > 0)
            return true;
    return false;
}

/* Are these all pairs of the host's GPUs, or of one of them? Then that is a property of model or machine, where no line shows NVLink. */
static bool has_no_other_pair(const struct ncclscope_model *m, nsc_str host, uint64_t refused, bool of_one)
{
    struct nsc_map gpus = {0};
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].bus_id && m->procs.item[m->ranks.item[i].proc].host == host)
            nsc_map_put(&gpus, (struct nsc_key){m->ranks.item[i].bus_id, 0, 0}, 0);
    uint64_t n = gpus.used;
    nsc_map_free(&gpus);
    return n > 1 && !shows_nvlink(m, host) && refused >= (of_one ? n - 1 : n * (n - 1) / 2);
}

/* The driver's or CUDA's "no". That of NVML for NVLink pairs, an error, is a row of failures.def. */
void nsc_rule_p2p_disabled_by_driver(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_event *first = NULL;
    bool only_told = true, only_asked = true, weak = true, named = true;
    struct nsc_map pairs[2] = {{0}};
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool told = e->kind == NCCLSCOPE_KIND_P2P_DRIVER_OFF;
        if (!is_refusal(e->kind))
            continue;
        struct nsc_gpu_class k = f ? (struct nsc_gpu_class){0} : nsc_gpu_of(m, e->proc);
        weak = f ? weak : k.gpu && !k.gpu->p2p && !shows_nvlink(m, m->procs.item[e->proc].host);
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
        first = first ? first : e;
        only_told = only_told && told && nsc_version_of(m, e->proc).high < NSC_CHANGE_NVML_REFUSAL_HOLDS;
        only_asked = only_asked && e->kind == NCCLSCOPE_KIND_P2P_NO_ACCESS;
        f->count++;
        named = count_refused(m, e, pairs) && named;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    unsigned long long refused = (unsigned long long)(pairs[0].used > pairs[1].used ? pairs[0].used : pairs[1].used);
    nsc_map_free(&pairs[0]);
    nsc_map_free(&pairs[1]);
    if (!f)
        return;
    f->count = named ? refused : f->count;
    f->title = nsc_words(c, "The driver or CUDA refuses P2P between GPUs (%s%zu host%s)",
                         named ? nsc_words(c, "%llu pair%s of ", refused, refused == 1 ? "" : "s") : "", f->hosts.len,
                         f->hosts.len == 1 ? "" : "s");
    bool p2p = false;
    for (size_t i = 0; i < m->links.len && only_told; i++)
        p2p = p2p || m->links.item[i].family == NSC_P2P;
    only_told = only_told && p2p;
    bool all_refused = named && (only_asked || nsc_success_of(m) || nsc_goes_on_well(m)) && f->hosts.len == 1 &&
                       has_no_other_pair(m, f->hosts.item[0], refused, only_asked);
    nsc_explain(c, f,
                &(struct nsc_ask){.c = c,
                                  .m = m,
                                  .proc = first->proc,
                                  .reason = weak                                          ? NSC_P2P_WEAK_MODEL
                                            : only_told                                   ? NSC_P2P_TOLD_AND_USED
                                            : first->kind == NCCLSCOPE_KIND_LEGACY_IPC_NO ? NSC_P2P_LEGACY_IPC
                                            : all_refused && only_asked                   ? NSC_P2P_NONE_FOR_GPU
                                            : all_refused                                 ? NSC_P2P_NONE_MAY
                                                                                          : NSC_P2P_REFUSED});
    f->cls = only_told && !weak                                     ? "visibility"
             : all_refused && f->severity > NCCLSCOPE_SEVERITY_NOTE ? "unknown"
                                                                    : f->cls;
    if (all_refused)
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
}

/* All P2P links for which `is` holds, as one finding; NULL if there is none. */
static struct nsc_finding *
p2p_links(struct nsc_case *c, bool (*is)(const struct ncclscope_model *, const struct nsc_link *), uint32_t *proc)
{
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < c->m->link_order.len; i++) {
        const struct nsc_link *l = &c->m->links.item[c->m->link_order.item[i]];
        if (!is(c->m, l) || (l->proc == NSC_NONE && c->m->comms.len)) /* torn: whose it is others tell */
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "by-design", "certain");
        *proc = *proc == NSC_NONE ? l->proc : *proc;
        nsc_add_link(c, f, l);
    }
    return f;
}

static bool is_read(const struct ncclscope_model *m, const struct nsc_link *l)
{
    (void)m;
    return l->family == NSC_P2P && l->read;
}

void nsc_rule_p2p_read(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    struct nsc_finding *f = p2p_links(c, is_read, &proc);
    if (!f)
        return;
    const struct nsc_env *forced = proc == NSC_NONE ? NULL : nsc_env_is(c->m, proc, "NCCL_P2P_READ_ENABLE", "1");
    bool env_visible = proc != NSC_NONE && nsc_reads_by_itself(c->m, proc);
    bool usual = nsc_cc_of(c->m, proc) == 80; /* then the variable sets what is so by itself */
    if (forced && !usual) {
        f->severity = NCCLSCOPE_SEVERITY_WARNING;
        f->title = "P2P links pull (read) instead of pushing (write): NCCL_P2P_READ_ENABLE=1 is set";
        nsc_explain_by(c, f, NSC_READ_ASKED);
        nsc_set_cost(c, f, NSC_COST_READ, NSC_COST_P2P, proc);
        nsc_show_first(c, f, &forced->where);
        return;
    }
    f->title = env_visible
                   ? "GPUs read from each other (/read), as A100-class GPUs (compute capability 8.0) on NVLink do"
                   : "GPUs read from each other (/read) instead of writing";
    f->confidence = env_visible ? "certain" : "possible";
    nsc_explain_by(c, f, env_visible ? NSC_READ_USUAL : NSC_READ_UNSEEN);
}

/* A100 with NVLink, and yet P2P that pushes. */
static bool lacks_read(const struct ncclscope_model *m, const struct nsc_link *l)
{
    if (l->family != NSC_P2P || l->read || l->copy_engine || l->row == NSC_VIA_P2P_INDIRECT)
        return false;
    struct nsc_known_path p = l->known;
    struct nsc_gpu_class k = p.path == NSC_PATH_NVLINK ? nsc_gpu_of(m, l->proc) : (struct nsc_gpu_class){0};
    return k.gpu && k.gpu->cc == 80;
}

void nsc_rule_p2p_no_read(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    struct nsc_finding *f = p2p_links(c, lacks_read, &proc);
    if (!f)
        return;
    const struct nsc_env *off = nsc_env_is(c->m, proc, "NCCL_P2P_READ_ENABLE", "0");
    f->confidence = off ? "certain" : "likely";
    f->title = "P2P between A100-class GPUs on NVLink pushes (write), where NCCL itself would pull (read)";
    nsc_explain_by(c, f, off ? NSC_NO_READ_ASKED : NSC_NO_READ_UNSAID);
    nsc_show_first(c, f, off ? &off->where : NULL);
}

static bool is_copy_engine(const struct ncclscope_model *m, const struct nsc_link *l)
{
    (void)m;
    return (l->family == NSC_P2P || l->family == NSC_SHM) && l->copy_engine;
}

void nsc_rule_p2p_copy_engine(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    struct nsc_finding *f = p2p_links(c, is_copy_engine, &proc);
    if (!f)
        return;
    bool p2p = false;
    for (size_t i = 0; i < c->m->links.len; i++)
        p2p = p2p || (c->m->links.item[i].family == NSC_P2P && c->m->links.item[i].copy_engine);
    const char *name = p2p ? "NCCL_P2P_USE_CUDA_MEMCPY" : "NCCL_SHM_USE_CUDA_MEMCPY"; /* each of its own kind of link */
    const struct nsc_env *e = proc == NSC_NONE ? NULL : nsc_env_of(c->m, proc, name);
    f->severity = NCCLSCOPE_SEVERITY_WARNING;
    f->title = nsc_words(c, "%s move%s data by copy engine (/CE), not by kernels", nsc_count_pairs(c, f, "GPUs"),
                         f->all_pairs == 1 ? "s" : "");
    nsc_explain_with(c, f, e ? NSC_COPY_ASKED : NSC_COPY_UNSAID, name, e ? nsc_say(c->m, e->value).ptr : NULL);
    if (p2p) /* measured for P2P; host memory has a cost of its own */
        nsc_set_cost(c, f, NSC_COST_COPY_ENGINE, NSC_COST_P2P, proc);
    nsc_show_first(c, f, e ? &e->where : NULL);
}

static bool is_indirect(const struct ncclscope_model *m, const struct nsc_link *l)
{
    (void)m;
    return l->row == NSC_VIA_P2P_INDIRECT;
}

void nsc_rule_p2p_indirect(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    struct nsc_finding *f = p2p_links(c, is_indirect, &proc);
    if (!f)
        return;
    f->title = nsc_words(c, "%s talk%s through the memory of a third GPU", nsc_count_pairs(c, f, "GPUs"),
                         f->all_pairs == 1 ? "s" : "");
    nsc_explain_by(c, f, 0);
}

static bool is_unproven(const struct ncclscope_model *m, const struct nsc_link *l)
{
    (void)m;
    return l->family == NSC_P2P && l->known.path == NSC_PATH_P2P && l->known.proof != NSC_PROOF_STATED;
}

/* Is the GPU of the first such link, and so of all in the job, of a model without NVLink? */
static bool has_no_nvlink(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->proc == NSC_NONE || !is_unproven(m, l))
            continue;
        struct nsc_gpu_class k = nsc_gpu_of(m, l->proc);
        return k.gpu && !k.gpu->nvlink;
    }
    return false;
}

/* Did NCCL warn of what it was doing to set P2P up, and did nothing work behind it? */
static bool failed_in_p2p(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->events.len && !nsc_success_of(m); i++)
        if (m->events.item[i].level == NCCLSCOPE_LEVEL_WARN &&
            nsc_text_find(m->events.item[i].where.text, "transport/p2p.cc:") >= 0)
            return true;
    return false;
}

void nsc_rule_p2p_link_unproven(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    if (has_no_nvlink(c->m))
        return;
    struct nsc_finding *f = p2p_links(c, is_unproven, &proc);
    if (!f)
        return;
    bool one = f->all_pairs == 1, failed = failed_in_p2p(c->m);
    const struct nsc_own_record *word = nsc_first_heard(c->m, NCCLSCOPE_KIND_PROGRAM_NVLINK);
    f->title = nsc_words(c, "%s %s P2P; %s or PCIe cannot be told from %s", nsc_count_pairs(c, f, "GPUs"),
                         failed && one ? "was to use"
                         : failed      ? "were to use"
                         : one         ? "uses"
                                       : "use",
                         nsc_is_rccl(c->m) ? "xGMI" : "NVLink", word ? "NCCL's lines" : "this log");
    if (word) {
        f->title = nsc_words(c, "%s; the program says that the GPUs of its node are joined by NVLink (%s)", f->title,
                             nsc_line_in(c, &word->where));
        nsc_show_first(c, f, &word->where);
    }
    nsc_explain_by(c, f, 0);
    f->cls = "visibility";
}

/* ---- pairs that are not alike ---- */

/* The link of the other direction between the same ranks; NULL: none, or several families. */
static const struct nsc_link *way_back(const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint32_t comm = nsc_comm_of_link(m, l);
    size_t low = 0, high = m->link_order.len; /* links lie by communicator, src, dst */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct nsc_link *x = &m->links.item[m->link_order.item[mid]];
        uint32_t k = nsc_comm_of_link(m, x);
        bool before = k != comm ? k < comm : x->src != l->dst ? x->src < l->dst : x->dst < l->src;
        low = before ? mid + 1 : low;
        high = before ? high : mid;
    }
    const struct nsc_link *back = NULL;
    for (; low < m->link_order.len; low++) {
        const struct nsc_link *x = &m->links.item[m->link_order.item[low]];
        if (nsc_comm_of_link(m, x) != comm || x->src != l->dst || x->dst != l->src)
            break;
        if (x->family == NSC_COLLNET || (back && back->family != x->family))
            return NULL;
        back = x;
    }
    return back;
}

void nsc_rule_asymmetric(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->src >= l->dst || l->family == NSC_COLLNET || nsc_comm_of_link(m, l) == NSC_NONE)
            continue;
        struct nsc_known_path p = l->known;
        const struct nsc_link *back = p.scope == NSC_SCOPE_NODE ? way_back(m, l) : NULL;
        const struct nsc_link *there = back ? way_back(m, back) : NULL; /* NULL if this direction mixes families */
        if (!there || back->family == l->family)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            f->title = nsc_words(c, "The two directions of a pair differ: rank %llu to %llu uses %s, the way back %s",
                                 (unsigned long long)l->src, (unsigned long long)l->dst, nsc_say(m, l->via).ptr,
                                 nsc_say(m, back->via).ptr);
            nsc_explain_by(c, f, 0);
        }
        nsc_add_link(c, f, l);
        nsc_add_link(c, f, back);
    }
}

/* ---- fewer links, fewer channels ---- */

/* GPUs of one host whose NVLinks add up to less than those of others: links are down. */
static void tell_missing_nvlinks(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map best = {0}; /* by host: the GPU with the most */
    for (size_t i = 0; i < m->gpu_nodes.len; i++) {
        struct nsc_key key = {m->gpu_nodes.item[i].host, 0, 0};
        uint32_t k = nsc_map_get(&best, key);
        if (m->gpu_nodes.item[i].switched &&
            (k == NSC_NONE || m->gpu_nodes.item[i].nvlink > m->gpu_nodes.item[k].nvlink) &&
            nsc_map_put(&best, key, (uint32_t)i))
            c->f->no_memory = true;
    }
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->gpu_nodes.len; i++) {
        const struct nsc_gpu_node *g = &m->gpu_nodes.item[i];
        uint32_t k = nsc_map_get(&best, (struct nsc_key){g->host, 0, 0});
        if (k == NSC_NONE || !g->switched || g->nvlink >= m->gpu_nodes.item[k].nvlink)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            f->title =
                nsc_words(c, "NVLinks are missing: GPU %s of %s has %g GB/s of NVLink, other GPUs there have %g",
                          nsc_say(m, g->bus_id).ptr, nsc_say(m, g->host).ptr, g->nvlink, m->gpu_nodes.item[k].nvlink);
            nsc_explain_by(c, f, NSC_LINKS_DOWN);
        }
        f->count++;
        nsc_name_host(c, f, g->host);
        nsc_show(c, f, &g->where);
    }
    nsc_map_free(&best);
}

/* NVLink between two GPUs that carries much less one way than the other: links are one way only on paper, in a topology file. */
static void tell_lopsided_nvlink(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->gpu_paths.len; i++) {
        const struct nsc_gpu_path *p = &m->gpu_paths.item[i];
        uint32_t k = nsc_map_get(&m->path_by, (struct nsc_key){p->host, p->b, p->a});
        const struct nsc_gpu_path *back = k == NSC_NONE ? NULL : &m->gpu_paths.item[k];
        if (!back || !nsc_text_is(nsc_say(m, p->type), "NVL") || !nsc_text_is(nsc_say(m, back->type), "NVL") ||
            p->bw <= 0 || p->bw * 2 > back->bw) /* 0: the line says the class of the path alone */
            continue;
        if (!f) {
            const struct nsc_env *file = nsc_env_of(m, NSC_NONE, "NCCL_TOPO_FILE");
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            f->caused_by = file ? NSC_ID_ENV_TOPO_FILE : NSC_ID_NONE;
            f->title =
                nsc_words(c, "%s between GPU %s and GPU %s of %s %s %g GB/s one way and %g the other",
                          file ? "The topology file declares that NVLink" : "NVLink", nsc_say(m, p->a).ptr,
                          nsc_say(m, p->b).ptr, nsc_say(m, p->host).ptr, file ? "carries" : "is", p->bw, back->bw);
            nsc_explain_with(c, f, file ? NSC_LOPSIDED_BY_FILE : NSC_LOPSIDED,
                             file ? nsc_say(m, file->value).ptr : NULL, NULL);
            nsc_show(c, f, file ? &file->where : NULL);
        }
        f->count++;
        nsc_name_host(c, f, p->host);
        nsc_show(c, f, &p->where);
        nsc_show(c, f, &back->where);
    }
}

enum { FEW_CHANNELS = 8 }; /* NVLink machines get 16 and more by themselves */

/* A variable allows so few channels that NVLink cannot be filled. */
static void tell_forced_channels(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    static const char *const names[] = {"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"};
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family != NSC_P2P || l->rank == NSC_NONE || m->ranks.item[l->rank].coll < 0 ||
            m->ranks.item[l->rank].coll >= FEW_CHANNELS)
            continue;
        struct nsc_known_path p = l->known;
        const struct nsc_env *e = NULL;
        for (int k = 0; k < 2 && !e && p.path == NSC_PATH_NVLINK; k++) {
            int64_t most;
            e = nsc_env_of(m, l->proc, names[k]);
            e = e && nsc_to_i64(nsc_say(m, e->value), &most) && most == m->ranks.item[l->rank].coll ? e : NULL;
        }
        if (!e)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            f->caused_by = NSC_ID_ENV_CHANNELS_LIMITED;
            f->title = nsc_words(c, "Only %lld channel%s between GPUs on NVLink: %s=%s",
                                 (long long)m->ranks.item[l->rank].coll, m->ranks.item[l->rank].coll == 1 ? "" : "s",
                                 nsc_say(m, e->name).ptr, nsc_say(m, e->value).ptr);
            nsc_explain_by(c, f, NSC_FEW_BY_VARIABLE);
            nsc_show(c, f, &e->where);
        }
        nsc_add_link(c, f, l);
    }
}

void nsc_rule_few_channels(struct nsc_case *c)
{
    tell_missing_nvlinks(c);
    tell_lopsided_nvlink(c);
    tell_forced_channels(c);
}

/* ---- NVLink SHARP ---- */

/* Of a communicator that could have it: why not (enum nsc_p2p_reason); 0 if nothing is missing, or nothing is known. */
static int nvls_is_missing(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    struct nsc_version v = nsc_version_of(m, r->proc);
    struct nsc_gpu_class k = r->nvls == 0 && v.how >= NSC_VERSION_PEER && v.low >= NSC_CHANGE_NVLS
                                 ? nsc_gpu_of(m, r->proc)
                                 : (struct nsc_gpu_class){0};
    bool few = r->local_ranks < (v.low >= NSC_CHANGE_NVLS_OF_TWO ? 2 : 3); /* by design */
    if (!k.gpu || k.gpu->cc < 90 || !k.gpu->links || few || !nsc_env_is_visible(m, r->proc) ||
        nsc_env_of(m, r->proc, "NCCL_NVLS_ENABLE") || nsc_env_is(m, r->proc, "NCCL_CUMEM_ENABLE", "0") ||
        nsc_env_of(m, r->proc, "NCCL_ALGO"))
        return 0;
    return nsc_event_of(m, r->proc, NCCLSCOPE_KIND_NVLS_NO) ? NSC_NVLS_REFUSED : NSC_NVLS_UNSAID;
}

void nsc_rule_nvls_off(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        const struct nsc_rank *r = k->count ? &m->ranks.item[m->members.item[k->first]] : NULL;
        int why = r && k->parent == NSC_NONE ? nvls_is_missing(m, r) : 0;
        if (!why)
            continue;
        if (!f) {
            const struct nsc_event *no = nsc_event_of(m, r->proc, NCCLSCOPE_KIND_NVLS_NO);
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "fault", "possible");
            f->comm = (uint32_t)i;
            f->title = "NVLink SHARP (NVLS) is not used, on GPUs that have it";
            nsc_explain_by(c, f, why);
            nsc_show(c, f, no ? &no->where : &r->first);
        }
        f->count++;
    }
}

/* ---- P2P that one end has and the other has not ---- */

enum { P2P_FREE = 1, P2P_OFF = 2 };

/* Which of the two a process shows: it prints what variables it has. 0: neither. */
static uint32_t p2p_of(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_proc *p = &m->procs.item[proc];
    bool takes_part = p->last_rank != NSC_NONE || p->last_connect;
    return !p->host ? 0 : nsc_p2p_disabled(m, proc) ? P2P_OFF : takes_part ? P2P_FREE : 0;
}

enum nsc_answer nsc_ask_one_sided_p2p(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    uint32_t proc = q->event ? q->event->proc : q->proc;
    if (proc == NSC_NONE || !m->procs.item[proc].host || m->repeated || !nsc_p2p_disabled(m, NSC_NONE))
        return NSC_NO;
    uint32_t last = m->procs.item[proc].last_rank, comm = last == NSC_NONE ? NSC_NONE : m->ranks.item[last].comm;
    uint32_t had = 0;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        uint32_t one = m->proc_order.item[i], rank = m->procs.item[one].last_rank;
        bool beside = m->procs.item[one].host == m->procs.item[proc].host &&
                      m->procs.item[one].source == m->procs.item[proc].source &&
                      (comm == NSC_NONE || (rank != NSC_NONE && m->ranks.item[rank].comm == comm));
        had |= beside ? p2p_of(m, one) : 0;
    }
    return had == (P2P_FREE | P2P_OFF) ? NSC_YES : NSC_NO;
}

/* apply_net.c - records that tell of networks and plugins. */
#include "model/apply.h"
#include "model/scratch.h"

void nsc_apply_network(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_str net = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_NET));
    if (!m->procs.item[proc].network_at.line)
        m->procs.item[proc].network_at = nsc_here(m, rec);
    m->procs.item[proc].network = net;
    t->network = net;
    t->chose = nsc_here(m, rec);
    if (nsc_making(m, t))
        nsc_claim(m, t, t->rank);
}

static void add_device(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, const char *net,
                       int64_t index, nsc_text name, nsc_text port, nsc_text kind, bool link_local)
{
    nsc_str host = m->procs.item[proc].host, network_ = nsc_keep(m, nsc_text_of(net)), device = nsc_keep(m, name);
    struct nsc_net_device new = {.host = host,
                                 .net = network_,
                                 .name = device,
                                 .kind = nsc_keep(m, kind),
                                 .index = index,
                                 .port = -1,
                                 .link_local = link_local};
    struct nsc_key key = nsc_device_key(&new);
    if (nsc_map_get(&m->scratch->device_by, key) != NSC_NONE)
        return;
    struct nsc_net_device *d = nsc_vec_push(&m->devices);
    if (!d || nsc_map_put(&m->scratch->device_by, key, 0)) {
        m->no_memory = true;
        return;
    }
    *d = new;
    d->where = nsc_here(m, rec);
    nsc_to_i64(port, &d->port);
}

/* "mlx5_0:1/IB" or "eth0:192.0.2.2<0>" to its parts. */
static void one_device(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, const char *net,
                       int64_t index, nsc_text rest)
{
    nsc_text port = {NULL, 0}, kind = {NULL, 0}, name = rest;
    const char *colon = rest.len ? memchr(rest.ptr, ':', rest.len) : NULL;
    if (!colon)
        return;
    name.len = (size_t)(colon - rest.ptr);
    rest = nsc_text_from(rest, name.len + 1);
    if (rest.len > 6 && !memcmp(rest.ptr + rest.len - 6, "/SHARP", 6)) /* "1/IB/SHARP": what the port can besides */
        rest.len -= 6;
    size_t slash = rest.len;
    while (slash && rest.ptr[slash - 1] != '/')
        slash--;
    if (slash > 1) { /* "1/IB", or with a rail "1:0/IB" */
        kind = nsc_text_from(rest, slash);
        port = (nsc_text){rest.ptr, slash - 1};
        const char *rail = memchr(port.ptr, ':', port.len);
        port.len = rail ? (size_t)(rail - port.ptr) : port.len;
    }
    add_device(m, rec, proc, net, index, name, port, kind, nsc_text_starts(rest, "fe80:"));
}

/* "eth0:192.0.2.2<0>" of a line about the bootstrap, or about what NET/IB uses out of band: the same interface. */
static void take_address(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_proc *p, bool bootstrap)
{
    nsc_text addr = nsc_record_field(rec, NCCLSCOPE_FIELD_ADDR);
    const char *end = addr.len ? memchr(addr.ptr, '<', addr.len) : NULL;
    if (!end || (p->address && !bootstrap))
        return;
    p->address = nsc_keep(m, nsc_text_trim((nsc_text){addr.ptr, (size_t)(end - addr.ptr)}));
    p->address_if = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_IFNAME));
    p->address_at = nsc_here(m, rec);
}

/* "[0]ens4:192.0.2.1<0>", the first of what NET/Socket uses, where no line about the bootstrap is here. */
static void take_socket_address(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_proc *p,
                                nsc_text word)
{
    const char *colon = word.len ? memchr(word.ptr, ':', word.len) : NULL,
               *end = word.len ? memchr(word.ptr, '<', word.len) : NULL;
    if (p->address || !nsc_text_starts(word, "[0]") || !colon || !end || end < colon)
        return;
    p->address = nsc_keep(m, (nsc_text){colon + 1, (size_t)(end - colon) - 1});
    p->address_if = nsc_keep(m, (nsc_text){word.ptr + 3, (size_t)(colon - word.ptr) - 3});
    p->address_at = nsc_here(m, rec);
}

/* "[0]mlx5_0:1/IB": its number, taken off the word; -1: it has none. */
static int64_t take_index(nsc_text *word)
{
    int64_t index;
    const char *close = word->len ? memchr(word->ptr, ']', word->len) : NULL;
    if (!close || word->ptr[0] != '[' ||
        !nsc_to_i64((nsc_text){word->ptr + 1, (size_t)(close - word->ptr) - 1}, &index))
        return -1;
    *word = nsc_text_from(*word, (size_t)(close - word->ptr) + 1);
    return index;
}

/* "[0]mlx5_0:1/IB [1]={[1] mlx5_1:1/IB, [2] mlx5_2:1/IB}": NICs that are taken for one stand in braces, and have the number before them. */
void nsc_apply_devices(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text rest = nsc_record_field(rec, NCCLSCOPE_FIELD_DEVICES), word;
    bool ib = rec->kind == NCCLSCOPE_KIND_IB_USING;
    bool cloud = rec->kind == NCCLSCOPE_KIND_CLOUD_NET_USING;
    const char *net = ib                                                   ? "IB"
                      : !cloud                                             ? "Socket"
                      : nsc_text_starts(rec->message, "NET/GPUDirectTCPX") ? "GPUDirectTCPX"
                                                                           : "FastSocket";
    int64_t merged = -1; /* the number before the braces that are open */
    (void)t;
    while ((word = nsc_next_word(&rest)).len) {
        nsc_text name = word;
        int64_t index = take_index(&name);
        if (nsc_text_starts(name, "={"))
            merged = index;
        bool last = name.len && name.ptr[name.len - 1] == '}';
        name.len -= merged >= 0 && name.len && (last || name.ptr[name.len - 1] == ',');
        if (index >= 0 || merged >= 0)
            one_device(m, rec, proc, net, merged >= 0 ? merged : index, name);
        merged = last ? -1 : merged;
        if (!ib && !cloud)
            take_socket_address(m, rec, &m->procs.item[proc], word);
    }
    take_address(m, rec, &m->procs.item[proc], false);
    if (rec->kind == NCCLSCOPE_KIND_IB_USING && !nsc_record_field(rec, NCCLSCOPE_FIELD_IFNAME).len)
        nsc_event_at(m, rec, proc, -1, (nsc_text){NULL, 0}); /* "...; OOB :": it has no address to give */
}

/* "NET/IB : Made virtual device [0] name=mlx5_0 speed=200000 ndevs=1" */
void nsc_apply_nic_speed(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    int64_t mbit = nsc_int(rec, NCCLSCOPE_FIELD_SPEED);
    (void)t;
    if (mbit <= 0 || (p->nic_mbit && p->nic_mbit <= mbit))
        return;
    p->nic_mbit = mbit;
    p->nic_mbit_at = nsc_here(m, rec);
}

/* "NET : Using interface eth0:192.0.2.2<0>": 2.3 lists them a line each, without numbers. */
void nsc_apply_interface(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text none = {NULL, 0}, name = nsc_record_field(rec, NCCLSCOPE_FIELD_IFNAME);
    (void)t;
    if (name.len)
        add_device(m, rec, proc, "Socket", -1, name, none, none,
                   nsc_text_starts(nsc_record_field(rec, NCCLSCOPE_FIELD_ADDR), "fe80:"));
    take_address(m, rec, &m->procs.item[proc], false);
}

static struct nsc_plugin *plugin(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                                 const char *kind, nsc_text name, nsc_text file, const char *state)
{
    nsc_str k = nsc_keep(m, nsc_text_of(kind)), s = nsc_keep(m, nsc_text_of(state)), n = nsc_keep(m, name),
            f = nsc_keep(m, file);
    struct nsc_key key = nsc_plugin_key(&(struct nsc_plugin){.kind = k, .state = s, .name = n, .named = f});
    uint32_t i = nsc_map_get(&m->scratch->plugin_by, key);
    if (i == NSC_NONE) {
        struct nsc_plugin *p = nsc_vec_push(&m->plugins);
        i = (uint32_t)(m->plugins.len - 1);
        if (!p || nsc_map_put(&m->scratch->plugin_by, key, i)) {
            m->no_memory = true;
            return NULL;
        }
        *p = (struct nsc_plugin){.kind = k, .name = n, .file = f, .named = f, .state = s, .last_proc = NSC_NONE};
        p->where = nsc_here(m, rec);
    }
    struct nsc_plugin *p = &m->plugins.item[i];
    struct nsc_where here = nsc_here(m, rec);
    if (nsc_is_earlier(&here, &p->where)) /* of streams that come together */
        p->where = here;
    struct nsc_key told = {i, proc, 0}; /* a process tells it of each communicator */
    if (nsc_map_get(&m->scratch->plugin_of, told) == NSC_NONE) {
        p->procs++;
        m->no_memory = nsc_map_put(&m->scratch->plugin_of, told, 0) || m->no_memory;
    }
    p->last_proc = proc;
    return p;
}

/* "libnccl-tuner.so libnccl-net.so. Using internal tuner plugin.": the names alone. */
static nsc_text file_names(nsc_text text)
{
    ptrdiff_t end = nsc_text_find(text, ". ");
    if (end >= 0)
        text.len = (size_t)end;
    while (text.len && (text.ptr[text.len - 1] == '.' || text.ptr[text.len - 1] == ' '))
        text.len--;
    return nsc_text_trim(text);
}

void nsc_apply_plugin_missing(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                              struct nsc_thread *t)
{
    nsc_text file = file_names(nsc_record_field(rec, NCCLSCOPE_FIELD_FILE)), none = {NULL, 0};
    (void)t;
    plugin(m, rec, proc, "net", none, file.len ? file : NSC_TEXT("libnccl-net.so"), "missing");
    nsc_event_at(m, rec, proc, 0, file);
}

void nsc_apply_other_plugin_missing(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                                    struct nsc_thread *t)
{
    static const struct {
        const char *head, *kind;
    } kinds[] = {{"TUNER", "tuner"}, {"PROFILER", "profiler"}, {"ENV", "env"}, {"GIN", "gin"}, {"RMA", "rma"}};
    nsc_text none = {NULL, 0};
    (void)t;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (nsc_text_starts(rec->message, kinds[i].head))
            plugin(m, rec, proc, kinds[i].kind, none, file_names(nsc_record_field(rec, NCCLSCOPE_FIELD_FILE)),
                   "missing");
}

void nsc_apply_plugin_loaded(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                             struct nsc_thread *t)
{
    nsc_text none = {NULL, 0}, net = nsc_record_field(rec, NCCLSCOPE_FIELD_NET);
    (void)t;
    struct nsc_plugin *p = plugin(m, rec, proc, "net", net, none, "loaded");
    m->procs.item[proc].plugin = p ? (uint32_t)(p - m->plugins.item) : NSC_NONE;
    nsc_event_at(m, rec, proc, 0, net);
}

/* The file and the version of a plugin stand on lines of their own, behind the one that names it. */
void nsc_apply_plugin_opened(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                             struct nsc_thread *t)
{
    uint32_t named = m->procs.item[proc].plugin;
    nsc_text none = {NULL, 0}, file = nsc_record_field(rec, NCCLSCOPE_FIELD_FILE);
    (void)t;
    if (named == NSC_NONE)
        plugin(m, rec, proc, "net", none, file, "loaded");
    else if (!m->plugins.item[named].file)
        m->plugins.item[named].file = nsc_keep(m, file);
}

void nsc_apply_tuner(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text none = {NULL, 0};
    (void)t;
    plugin(m, rec, proc, "tuner", nsc_record_field(rec, NCCLSCOPE_FIELD_NAME), none, "loaded");
}

void nsc_apply_ofi_version(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text none = {NULL, 0};
    char version_[120] = "aws-ofi-nccl ";
    nsc_text v = nsc_record_field(rec, NCCLSCOPE_FIELD_VERSION);
    (void)t;
    uint32_t named = m->procs.item[proc].plugin;
    struct nsc_plugin *p = named != NSC_NONE ? &m->plugins.item[named]
                                             : plugin(m, rec, proc, "net", NSC_TEXT("aws-ofi-nccl"), none, "loaded");
    if (!p || !v.ptr || v.len > 100)
        return;
    memcpy(version_ + 13, v.ptr, v.len);
    p->version = nsc_keep(m, (nsc_text){version_, 13 + v.len});
}

void nsc_apply_ofi_platform(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    (void)t;
    nsc_text name = nsc_record_field(rec, NCCLSCOPE_FIELD_PLATFORM);
    p->platform =
        nsc_keep(m, nsc_text_is(name, "P4d") ? NSC_TEXT("p4d.24xlarge") : name); /* so up to aws-ofi-nccl 1.1.4 */
    if (!p->platform_at.line)
        p->platform_at = nsc_here(m, rec);
}

/* "NCCL_OFI_TUNER is not available for platform : g6e.48xlarge, Fall back ...": the only line that names it there. */
void nsc_apply_tuner_off(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text reason = nsc_record_field(rec, NCCLSCOPE_FIELD_REASON), head = NSC_TEXT("for platform : ");
    struct nsc_proc *p = &m->procs.item[proc];
    (void)t;
    if (p->platform || !nsc_text_starts(reason, head.ptr))
        return;
    reason = nsc_text_from(reason, head.len);
    const char *comma = memchr(reason.ptr, ',', reason.len);
    reason.len = comma ? (size_t)(comma - reason.ptr) : reason.len;
    p->platform = reason.len ? nsc_keep(m, reason) : 0;
    p->platform_at = nsc_here(m, rec);
}

void nsc_apply_bootstrap(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    nsc_text addr = nsc_record_field(rec, NCCLSCOPE_FIELD_ADDR);
    const char *end = addr.len ? memchr(addr.ptr, '<', addr.len) : NULL;
    (void)t;
    p->starts |= NSC_ONCE_BOOTSTRAP;
    if (p->bootstrap_if)
        return;
    p->bootstrap_if = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_IFNAME));
    if (end) /* "192.0.2.2<0>"; over InfiniBand it is a port of the device: "mlx5_0:1" */
        p->bootstrap_addr = nsc_keep(m, (nsc_text){addr.ptr, (size_t)(end - addr.ptr)});
    p->bootstrap_at = nsc_here(m, rec);
    take_address(m, rec, p, true);
}

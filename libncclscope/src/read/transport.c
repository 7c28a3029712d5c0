/* transport.c - the text behind "via" to what it says, by the rows of transports.def. */
#include "read/transport.h"

static const struct {
    int family;
    const char *template_;
} table[NSC_VIA_COUNT] = {
    {0, NULL},
#define TRANSPORT(NAME, family, template_, example) {NSC_##family, template_},
#include "transports.def"
#undef TRANSPORT
};

int nsc_via_cache_init(struct nsc_via_cache *c)
{
    *c = (struct nsc_via_cache){0};
    for (int i = 1; i < NSC_VIA_COUNT; i++)
        nsc_pattern_init(&c->pattern[i], table[i].template_, false);
    if (pthread_mutex_init(&c->lock, NULL))
        return NCCLSCOPE_ENOMEM;
    return nsc_match_new(&c->match, NULL);
}

void nsc_via_cache_free(struct nsc_via_cache *c)
{
    for (int i = 1; i < NSC_VIA_COUNT; i++)
        nsc_pattern_free(&c->pattern[i]);
    nsc_match_free(&c->match);
    pthread_mutex_destroy(&c->lock);
}

static void take_fields(const struct nsc_match *m, struct nsc_via *v)
{
    ncclscope_field field;
    nsc_text text;
    for (size_t i = 0; nsc_match_field(m, i, &field, &text); i++) {
        if (field == NCCLSCOPE_FIELD_MODE) {
            v->read = nsc_text_find(text, "read") >= 0;
            v->copy_engine = nsc_text_find(text, "CE") >= 0;
        } else if (field == NCCLSCOPE_FIELD_NET) {
            v->network = text;
        } else if (field == NCCLSCOPE_FIELD_DEV) {
            nsc_to_i64(text, &v->net_dev);
        } else if (field == NCCLSCOPE_FIELD_RDMA) {
            v->gdrdma = text.len > 0;
        } else if (field == NCCLSCOPE_FIELD_PROXY && text.len > 2) {
            nsc_to_i64((nsc_text){text.ptr + 1, text.len - 2}, &v->proxy_rank);
        }
    }
}

/* "NET/IB/0 comm 0x55d0 nRanks 16" to its two parts. */
static void split_rccl(struct nsc_via *v)
{
    ptrdiff_t at = nsc_text_find(v->text, " comm 0x");
    if (at < 0)
        return;
    nsc_text rest = nsc_text_from(v->text, (size_t)at + 6);
    v->comm = nsc_next_word(&rest);
    if (!nsc_text_is(nsc_next_word(&rest), "nRanks") || !nsc_to_i64(nsc_next_word(&rest), &v->nranks) ||
        v->nranks > INT32_MAX)
        v->nranks = -1;
    v->text.len = (size_t)at;
}

static void parse(struct nsc_via_cache *c, nsc_text text, struct nsc_via *v)
{
    *v = (struct nsc_via){.text = text, .net_dev = -1, .proxy_rank = -1, .nranks = -1};
    split_rccl(v);
    for (int i = 1; i < NSC_VIA_COUNT && !v->row; i++) {
        if (!nsc_pattern_match(&c->pattern[i], &c->lock, v->text, &c->match))
            continue;
        v->row = i;
        v->family = table[i].family;
        take_fields(&c->match, v);
        if (i == NSC_VIA_P2P_INDIRECT)
            v->net_dev = -1;
        if (i == NSC_VIA_SHM)
            v->copy_engine = nsc_text_find(v->text, "CE") >= 0;
    }
}

const struct nsc_via *nsc_via_parse(struct nsc_via_cache *c, nsc_text text)
{
    uint64_t hash = nsc_hash(text.ptr, text.len);
    struct nsc_via_kept *k = &c->kept[hash % NSC_VIA_CACHE];
    if (k->hash == hash && k->len == text.len && text.len && text.len <= NSC_VIA_KEPT &&
        !memcmp(k->text, text.ptr, text.len))
        return &k->via;
    k->hash = hash;
    k->len = text.len;
    if (text.len <= NSC_VIA_KEPT) {
        memcpy(k->text, text.ptr, text.len); /* what is parsed points into the copy, so it outlives the line */
        text.ptr = k->text;
    }
    parse(c, text, &k->via);
    return &k->via;
}

void nsc_via_parse_once(struct nsc_via_cache *c, const struct nsc_match *connect, struct nsc_via *out)
{
    parse(c, nsc_match_text(connect, NCCLSCOPE_FIELD_VIA), out);
}

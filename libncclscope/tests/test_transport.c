/* test_transport.c - every spelling behind "via", and texts that are cut. */
#include "check.h"
#include "read/transport.h"

static struct nsc_via_cache *cache;
static struct nsc_match match;

static const struct {
    const char *name, *example;
    int row, family;
} rows[] = {
#define TRANSPORT(NAME, family, template_, example) {#NAME, example, NSC_VIA_##NAME, NSC_##family},
#include "transports.def"
#undef TRANSPORT
};

static const struct nsc_via *parse(const char *text)
{
    if (!cache) {
        cache = calloc(1, sizeof *cache);
        CHECK_INT(nsc_via_cache_init(cache), 0);
        CHECK_INT(nsc_match_new(&match, NULL), 0);
    }
    return nsc_via_parse(cache, nsc_text_of(text));
}

static void test_every_row(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct nsc_via *v = parse(rows[i].example);
        if (v->row != rows[i].row)
            printf("%s: %s is row %d\n", rows[i].name, rows[i].example, v->row);
        CHECK_INT(v->row, rows[i].row);
        CHECK_INT(v->family, rows[i].family);
        CHECK_TEXT(v->text, rows[i].example);
        CHECK_INT(parse(rows[i].example)->row, rows[i].row); /* once more, from the cache */
    }
}

struct spelling {
    const char *text;
    int family;
    bool read, copy_engine, gdrdma;
    const char *network;
    int64_t dev, proxy;
};

/* Every spelling of reference 3.3 to 3.6. */
static const struct spelling spellings[] = {
    {"P2P/direct pointer", NSC_P2P, 0, 0, 0, "", -1, -1},
    {"P2P/direct pointer/read", NSC_P2P, 1, 0, 0, "", -1, -1},
    {"P2P/IPC/read/CE", NSC_P2P, 1, 1, 0, "", -1, -1},
    {"P2P/CUMEM", NSC_P2P, 0, 0, 0, "", -1, -1},
    {"P2P/CUMEM/CE", NSC_P2P, 0, 1, 0, "", -1, -1},
    {"P2P/CUMEM/read", NSC_P2P, 1, 0, 0, "", -1, -1},
    {"P2P/MNNVL/read", NSC_P2P, 1, 0, 0, "", -1, -1},
    {"P2P/indirect/5[4]", NSC_P2P, 0, 0, 0, "", -1, -1},
    {"P2P/indirect/5[1a000]/read", NSC_P2P, 1, 0, 0, "", -1, -1},
    {"P2P/common device", NSC_P2P, 0, 0, 0, "", -1, -1},
    {"direct shared memory", NSC_SHM, 0, 0, 0, "", -1, -1},
    {"SHM/direct/direct", NSC_SHM, 0, 0, 0, "", -1, -1},
    {"SHM/CE/direct", NSC_SHM, 0, 1, 0, "", -1, -1},
    {"SHM/direct/CE", NSC_SHM, 0, 1, 0, "", -1, -1},
    {"SHM/CE/CE", NSC_SHM, 0, 1, 0, "", -1, -1},
    {"SHM/direct", NSC_SHM, 0, 0, 0, "", -1, -1},
    {"NET/IB/0", NSC_NET, 0, 0, 0, "IB", 0, -1},
    {"NET/IB/3/GDRDMA", NSC_NET, 0, 0, 1, "IB", 3, -1},
    {"NET/IB/3(7)/GDRDMA", NSC_NET, 0, 0, 1, "IB", 3, 7},
    {"NET/IB/3(7)/GDRDMA/Shared", NSC_NET, 0, 0, 1, "IB", 3, 7},
    {"NET/IB/0/GDRDMA(PCI)", NSC_NET, 0, 0, 1, "IB", 0, -1},
    {"NET/Socket/0/Shared", NSC_NET, 0, 0, 0, "Socket", 0, -1},
    {"NET/AWS Libfabric/1/GDRDMA", NSC_NET, 0, 0, 1, "AWS Libfabric", 1, -1},
    {"NET/NCCL RDMA Plugin v8/12", NSC_NET, 0, 0, 0, "NCCL RDMA Plugin v8", 12, -1},
    {"NET/GPUDirectTCPX_v7/2(5)/GDRDMA/Shared", NSC_NET, 0, 0, 1, "GPUDirectTCPX_v7", 2, 5},
    {"COLLNET/SHARP/0/GDRDMA", NSC_COLLNET, 0, 0, 1, "SHARP", 0, -1},
    {"COLLNET/SHARP/1", NSC_COLLNET, 0, 0, 0, "SHARP", 1, -1},
};

static void test_spellings(void)
{
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const struct spelling *s = &spellings[i];
        const struct nsc_via *v = parse(s->text);
        if (!v->row)
            printf("%s\n", s->text);
        CHECK_INT(v->family, s->family);
        CHECK_INT(v->read, s->read);
        CHECK_INT(v->copy_engine, s->copy_engine);
        CHECK_INT(v->gdrdma, s->gdrdma);
        CHECK_TEXT(v->network, s->network);
        CHECK_INT(v->net_dev, s->dev);
        CHECK_INT(v->proxy_rank, s->proxy);
    }
}

/* Whatever is no spelling is a cut text. */
static void test_cut(void)
{
    static const char *const cut[] = {
        "",
        "P",
        "P2P",
        "P2P/",
        "P2P/CUM",
        "P2P/CUMEMx",
        "P2P/CUMEM/",
        "P2P/CUMEM/rea",
        "P2P/CUMEM/read/",
        "P2P/direct",
        "P2P/direct pointe",
        "P2P/indirect/5",
        "P2P/indirect/5[",
        "SHM/",
        "SHM/dir",
        "SHM/direct/",
        "SHM/direct/dir",
        "direct shared mem",
        "NET/",
        "NET/IB",
        "NET/IB/",
        "NET/IB/0/GDR",
        "NET/IB/0/",
        "NET/IB/0(",
        "NET/IB/0(1",
        "NET/IB/0/GDRDMA/Sha",
        "COLLNET/SHARP/",
        "MAGIC/0",
        "P2P/CUMEMvm:1:2 [0]",
    };
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        const struct nsc_via *v = parse(cut[i]);
        if (v->row)
            printf("%s is row %d\n", cut[i], v->row);
        CHECK_INT(v->row, NSC_VIA_CUT);
        CHECK_INT(v->family, 0);
    }
}

static void test_rccl(void)
{
    const struct nsc_via *v = parse("P2P/IPC comm 0x55d0c0a0 nRanks 16");
    CHECK_INT(v->row, NSC_VIA_P2P_IPC);
    CHECK_TEXT(v->text, "P2P/IPC");
    CHECK_TEXT(v->comm, "0x55d0c0a0");
    v = parse("NET/IB/0/GDRDMA comm 0x1 nRanks 02");
    CHECK_TEXT(v->text, "NET/IB/0/GDRDMA");
    CHECK(v->gdrdma);
    CHECK_INT(parse("P2P/IPC")->comm.len, 0);
}

static void test_huge_numbers(void)
{
    const struct nsc_via *v = parse("NET/IB/99999999999999999999/GDRDMA");
    CHECK_INT(v->family, NSC_NET);
    CHECK_INT(v->net_dev, -1);
    static char longer[3000] = "NET/";
    memset(longer + 4, 'x', sizeof longer - 8);
    strcpy(longer + sizeof longer - 4, "/0");
    CHECK_INT(parse(longer)->network.len, sizeof longer - 8);
    CHECK_INT(parse(longer)->network.len, sizeof longer - 8);
}

/* More spellings than the cache holds: never another one's answer. */
static void test_cache(void)
{
    char text[40];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 500; i++) {
            snprintf(text, sizeof text, "NET/IB/%d(%d)", i, i * 3);
            const struct nsc_via *v = parse(text);
            CHECK_INT(v->net_dev, i);
            CHECK_INT(v->proxy_rank, i * 3);
            CHECK_TEXT(v->text, text);
        }
    }
    nsc_via_cache_free(cache);
    nsc_match_free(&match);
    free(cache);
}

CHECKS(TEST(test_every_row), TEST(test_spellings), TEST(test_cut), TEST(test_rccl), TEST(test_huge_numbers),
       TEST(test_cache))

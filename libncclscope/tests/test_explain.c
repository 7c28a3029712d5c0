/* test_explain.c - every line that has a row is explained: what it means, which versions print it, what it proves, its source. */
#include "check.h"
#include "ncclscope/model.h"
#include "read/texts.h"

struct page {
    char text[20000];
    size_t len;
};

static ncclscope_grammar *grammar;
static struct page page;

static int take(void *user, const char *bytes, size_t size)
{
    struct page *p = user;
    size_t n = size < sizeof p->text - p->len - 1 ? size : sizeof p->text - p->len - 1;
    memcpy(p->text + p->len, bytes, n);
    p->len += n;
    p->text[p->len] = 0;
    return 0;
}

static int explain(const char *line)
{
    page.len = 0;
    page.text[0] = 0;
    return ncclscope_explain_line(grammar, line, 2000, 0, take, &page);
}

static bool says(const char *words)
{
    return strstr(page.text, words) != NULL;
}

static void test_every_example(void)
{
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), NCCLSCOPE_OK);
    for (size_t i = 0; i < grammar->messages.rows; i += 3) {
        const char *example = grammar->messages.row[i].example;
        int rc = explain(example);
        bool whole = says("\nmeans ") && says("\nversions ") && says("\nproves ") && says("\nsource ");
        if (rc || !whole)
            printf("%d %s\n%s\n", rc, example, page.text);
        CHECK_INT(rc, NCCLSCOPE_OK);
        CHECK(whole);
    }
}

/* The number of a class of path means another one in nearly every release. */
static void test_distances(void)
{
    CHECK_INT(explain("GPU Direct RDMA Disabled for GPU 7 / HCA 0 (distance 8 > 4)"), NCCLSCOPE_OK);
    CHECK(says("8 is DIS 2.12.7 to 2.17.1, NET 2.18.1 to 2.25.1, SYS 2.26.2 to 2.26.6"));
    CHECK(says("PHB from 2.27.3 on"));
    CHECK_INT(explain("NCCL_IB_GID_INDEX set by environment to 18446744073709551615."), NCCLSCOPE_OK);
    CHECK(says("without their sign"));
}

static void test_paths(void)
{
    CHECK_INT(explain("Channel 00/0 : 3[3] -> 8[0] [send] via NET/IB/0(4)/GDRDMA/Shared"), NCCLSCOPE_OK);
    CHECK(says("PXN") && says("the NIC reads or writes GPU memory") && says("from NCCL 2.26.2 on"));
    CHECK_INT(explain("node1:830:831 [2] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"), NCCLSCOPE_OK);
    CHECK(says("host node1, process 830") && says("CUDA device 2") && says("NVLink and PCIe print the same words"));
    CHECK(says("NCCL 2.18.3 to 2.19.4") && says("from NCCL 2.20.3 on"));
    CHECK_INT(explain("NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"), NCCLSCOPE_OK);
    CHECK(says("NVLink and PCIe print the same words") && !says("torn") && !says("host host"));
    CHECK_INT(explain("  NCCL WARN Missing ranks"), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(explain("Ring 00 : 0[0] -> 1[1] via direct shared memory"), NCCLSCOPE_OK);
    CHECK(says("NCCL 2.3.5 to") && says("Host memory instead of GPU to GPU"));
}

static void test_variables(void)
{
    CHECK_INT(explain("NCCL_P2P_LEVEL set by environment to LOC"), NCCLSCOPE_OK);
    CHECK(says("how NCCL_P2P_DISABLE=1 is printed up to 2.22.3"));
    CHECK_INT(explain("NCCL_NO_SUCH_THING set by environment to 1."), NCCLSCOPE_OK);
    CHECK(!says("\nvariable"));
}

static void test_unknown(void)
{
    static const char *const lines[] = {
        "",        " ",        "step 12 loss 3.2", "node1:1:2 [0] NCCL INFO Frobbing the fabric", "\xff\x1b[31m",
        "Channel", "NCCL INFO"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        CHECK_INT(explain(lines[i]), NCCLSCOPE_ENOTFOUND);
        CHECK_INT((int)page.len, 0);
    }
    CHECK_INT(explain("node1:1:2 [0] NCCL INFO Using network \x1b[31mred"), NCCLSCOPE_OK);
    CHECK(!strchr(page.text, 0x1b));
    ncclscope_grammar_free(grammar);
}

CHECKS(TEST(test_every_example), TEST(test_distances), TEST(test_paths), TEST(test_variables), TEST(test_unknown))

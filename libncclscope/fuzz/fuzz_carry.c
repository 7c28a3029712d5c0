/* fuzz_carry.c - a saved model with bytes changed under the packing and its checksum: it is refused, or it is a model that can be merged, finished,
 * judged and reported. Each three bytes of the input are a place in what was packed, and what is put there. */
#include "model/carried.h"
#include "target.h"

static const char log_lines[] =
    "NCCL version 2.28.9+cuda13.0\n"
    "        GPU0    GPU1    CPU Affinity\n"
    "GPU0     X      NV18    0-23\n"
    "GPU1    NV18     X      0-23\n"
    "vm:10:10 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to NVL\n"
    "vm:10:10 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.2<0>\n"
    "vm:10:10 [0] NCCL INFO NET/Plugin: Loaded net plugin AWS Libfabric (v10)\n"
    "vm:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:192.0.2.2<0>\n"
    "vm:10:10 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xfeed - "
    "Init START\n"
    "vm:11:11 [1] NCCL INFO ncclCommInitRank comm 0x11 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 70 commId 0xfeed - "
    "Init START\n"
    "vm:10:10 [0] NCCL INFO GPU/0-60 :GPU/0-60 (0/5000.0/LOC) GPU/0-70 (2/370.8/NVL) NVS/0-0 (1/370.8/NVL) NET/0-0 "
    "(3/1.2/PHB)\n"
    "vm:10:10 [0] NCCL INFO Channel 00/02 : 0 1\n"
    "vm:10:10 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1\n"
    "vm:10:10 [0] NCCL INFO 2 coll channels, 2 collnet channels, 16 nvls channels, 2 p2p channels, 2 p2p channels per "
    "peer\n"
    "vm:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    "vm:11:11 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via SHM/direct/direct\n"
    "vm:10:10 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xfeed - "
    "Init COMPLETE\n"
    "vm:10:10 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 1024 datatype 7 op 0 root 0 comm 0x10 "
    "[nranks=2] stream 0x3\n"
    "vm:11:11 [1] NCCL INFO Broadcast: opCount 0 sendbuff 0x1 recvbuff 0x2 count 1024 datatype 7 op 0 root 0 comm 0x11 "
    "[nranks=2] stream 0x3\n"
    "vm:11:12 [1] transport/net_ib.cc:789 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err "
    "129\n"
    "vm:11:12 [1] NCCL INFO transport/net.cc:1200 -> 6\n"
    "[rank1]: RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1, unhandled system error, NCCL version 2.28.9\n"
    "    1048576        262144     float     sum      -1    36.21   28.96   50.68      0    35.53   29.51   51.65      "
    "0\n";

/* What was packed into a saved model of the lines. */
static const struct text *sound(void)
{
    static struct text raw;
    if (!raw.len) {
        struct text saved = {0};
        ncclscope_model *m = NULL;
        ncclscope_reader *r = NULL;
        const ncclscope_record *rec;
        must(ncclscope_reader_new(&r, the_grammar(), NULL) == 0);
        must(ncclscope_model_new(&m, NULL) == 0 && ncclscope_model_source(m, "fuzz") == 0);
        must(ncclscope_reader_feed(r, log_lines, sizeof log_lines - 1) == 0);
        ncclscope_reader_finish(r);
        while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
            must(ncclscope_model_add(m, rec) == 0);
        must(ncclscope_model_source_end(m, r, NULL) == 0 && ncclscope_model_save(m, take, &saved, NULL) == 0);
        size_t size = 0;
        must(nsc_carried_open((unsigned char *)saved.bytes, saved.len, &size, NULL) == 0);
        raw.bytes = malloc(raw.len = raw.cap = size);
        must(raw.bytes != NULL &&
             nsc_carried_unpack((unsigned char *)saved.bytes, saved.len, (unsigned char *)raw.bytes, raw.len) == 0);
        ncclscope_reader_free(r);
        ncclscope_model_free(m);
        free(saved.bytes);
    }
    return &raw;
}

static void check_model(ncclscope_model *m)
{
    ncclscope_model *all = NULL;
    ncclscope_findings *f = NULL;
    struct text t = {0};
    must(ncclscope_model_new(&all, NULL) == 0);
    must(ncclscope_model_merge(all, m, NULL) == 0 && ncclscope_model_merge(all, m, NULL) == 0);
    must(ncclscope_model_finish(all, NULL) == 0 && ncclscope_analyse(&f, all, NULL) == 0);
    must(ncclscope_report(all, f, "json", 0, 0, take, &t) == 0);
    must(ncclscope_report(all, f, "text", 80, NCCLSCOPE_REPORT_VERBOSE, take, &t) == 0);
    must_be_harmless(&t);
    ncclscope_findings_free(f);
    ncclscope_model_free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes;
    const struct text *raw = sound();
    char *changed = malloc(raw->len);
    size_t packed = nsc_carried_most(raw->len);
    must(changed != NULL && (bytes = malloc(NSC_CARRIED_HEAD + packed)) != NULL);
    memcpy(changed, raw->bytes, raw->len);
    for (size_t i = 0; i + 3 <= size; i += 3)
        changed[(data[i] | data[i + 1] << 8) % raw->len] = (char)data[i + 2];
    nsc_carried_head(bytes, (unsigned char *)changed, raw->len);
    must(nsc_carried_pack((unsigned char *)changed, raw->len, bytes + NSC_CARRIED_HEAD, &packed));
    ncclscope_model *m = NULL;
    ncclscope_error err = {0};
    int rc = ncclscope_model_load(&m, the_grammar(), bytes, NSC_CARRIED_HEAD + packed, &err);
    must(rc == NCCLSCOPE_OK || (rc == NCCLSCOPE_EDATA && err.text[0]));
    must(size >= 3 || rc == NCCLSCOPE_OK);
    if (rc == NCCLSCOPE_OK)
        check_model(m);
    ncclscope_model_free(m);
    free(bytes);
    free(changed);
    return 0;
}

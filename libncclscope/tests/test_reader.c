/* test_reader.c - bytes to records: who speaks, torn lines split and joined, counts. Readings of one log are compared in test_readings.c. */
#include "check.h"
#include "data.h"
#include "read/record.h"
#include "read/transport.h"

#include <fcntl.h>

static ncclscope_grammar *grammar;

static ncclscope_reader *fed(const char *text)
{
    ncclscope_reader *r = NULL;
    if (!grammar)
        CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
    CHECK_INT(ncclscope_reader_new(&r, grammar, NULL), 0);
    CHECK_INT(ncclscope_reader_feed(r, text, strlen(text)), 0);
    ncclscope_reader_finish(r);
    return r;
}

static const ncclscope_record *next(ncclscope_reader *r)
{
    const ncclscope_record *rec = NULL;
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_OK);
    return rec;
}

static void end(ncclscope_reader *r)
{
    const ncclscope_record *rec;
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_END);
    CHECK(rec == NULL);
    ncclscope_reader_free(r);
}

static ncclscope_stats stats_of(const ncclscope_reader *r)
{
    ncclscope_stats s = {.size = sizeof s};
    CHECK_INT(ncclscope_reader_stats(r, &s), 0);
    return s;
}

static void test_fields(void)
{
    ncclscope_reader *r = fed(
        "[1,3]<stdout>:node-0:188:709 [2] NCCL INFO Channel 01/0 : 3[0] -> 0[1] [receive] via NET/IB/2(5)/GDRDMA\n");
    const ncclscope_record *rec = next(r);
    uint64_t n;
    int64_t i;
    double d;
    ncclscope_text t;
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_CONNECT);
    CHECK_INT(ncclscope_record_level(rec), NCCLSCOPE_LEVEL_INFO);
    CHECK_INT(ncclscope_record_flags(rec), NCCLSCOPE_FLAG_HEADER);
    CHECK_INT(ncclscope_record_line(rec), 1);
    CHECK_INT(ncclscope_record_offset(rec), 0);
    CHECK_TEXT(ncclscope_record_host(rec), "node-0");
    CHECK_INT(ncclscope_record_pid(rec), 188);
    CHECK_INT(ncclscope_record_tid(rec), 709);
    CHECK_INT(ncclscope_record_dev(rec), 2);
    CHECK_INT(ncclscope_record_launcher_rank(rec), 3);
    CHECK_TEXT(ncclscope_record_message(rec), "Channel 01/0 : 3[0] -> 0[1] [receive] via NET/IB/2(5)/GDRDMA");
    CHECK(ncclscope_record_u64(rec, NCCLSCOPE_FIELD_SRC, &n) == 0 && n == 3);
    CHECK(ncclscope_record_i64(rec, NCCLSCOPE_FIELD_CHANNEL, &i) == 0 && i == 1);
    CHECK(ncclscope_record_f64(rec, NCCLSCOPE_FIELD_DST, &d) == 0 && d == 0);
    CHECK_INT(ncclscope_record_text(rec, NCCLSCOPE_FIELD_VIA, &t), 0);
    CHECK_TEXT(t, "NET/IB/2(5)/GDRDMA");
    CHECK_INT(ncclscope_record_u64(rec, NCCLSCOPE_FIELD_VIA, &n), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_record_u64(rec, NCCLSCOPE_FIELD_SIZE, &n), NCCLSCOPE_ENOTFOUND);
    ncclscope_field f;
    size_t fields = 0;
    while (ncclscope_record_field(rec, fields, &f, &t) == NCCLSCOPE_OK)
        fields++;
    CHECK_INT(fields, 8); /* channel conn src src_dev dst dst_dev direction via */
    CHECK(rec->via && rec->via->gdrdma && rec->via->proxy_rank == 5);
    end(r);
}

/* A version line as a screen of tmux's copy mode shows it: what it says is read all the same. */
static void test_copied_screen(void)
{
    ncclscope_text version;
    ncclscope_reader *r = fed("NCCL version 2.20.5+cuda12.4                    [50/1900]\n");
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_NCCL_VERSION);
    CHECK_INT(ncclscope_record_text(rec, NCCLSCOPE_FIELD_VERSION, &version), 0);
    CHECK_TEXT(version, "2.20.5+cuda12.4");
    ncclscope_reader_free(r);
}

static void test_levels(void)
{
    ncclscope_reader *r = fed("NCCL version 2.18.3+cuda12.2\n"
                              "\n"
                              "[2025-01-02 03:04:05] vm:1:2 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection "
                              "closed by remote peer a<1>\n"
                              "vm:1:2 NCCL CALL ncclGroupStart()\n"
                              "vm:1:2 [0] NCCL INFO Nobody knows this line\n"
                              "step 5 loss 3.2\n"
                              "NCCL INFO\n");
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_level(rec), NCCLSCOPE_LEVEL_VERSION);
    rec = next(r);
    CHECK_INT(ncclscope_record_level(rec), NCCLSCOPE_LEVEL_WARN);
    CHECK_INT(ncclscope_record_line(rec), 3);
    CHECK_TEXT(ncclscope_record_location(rec), "misc/socket.cc:50");
    CHECK_TEXT(ncclscope_record_time(rec), "2025-01-02 03:04:05");
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_REMOTE_CLOSED);
    rec = next(r);
    CHECK_INT(ncclscope_record_level(rec), NCCLSCOPE_LEVEL_CALL);
    CHECK_INT(ncclscope_record_dev(rec), -1);
    rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_UNKNOWN);
    rec = next(r);
    CHECK_INT(ncclscope_record_flags(rec) & NCCLSCOPE_FLAG_HEADER, 0);
    CHECK_INT(ncclscope_record_pid(rec), -1);
    ncclscope_stats s = stats_of(r);
    CHECK_INT(s.lines, 7);
    CHECK_INT(s.records, 5);
    CHECK_INT(s.warnings, 1);
    CHECK_INT(s.unknown, 1); /* an empty message without a header is torn, not unknown */
    CHECK_INT(s.torn_lines, 1);
    end(r);
}

/* Two records in a line; the host of the second begins where it always did. */
static void test_split(void)
{
    ncclscope_reader *r =
        fed("vm:1:1 [0] NCCL INFO Connected all trees\n"
            "vm:2:2 [1] NCCL INFO Connected all trees\n"
            "vm:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMvm:2:2 [1] NCCL INFO Using network Socket\n");
    next(r);
    next(r);
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_CONNECT);
    CHECK(ncclscope_record_flags(rec) & NCCLSCOPE_FLAG_TORN);
    CHECK_TEXT(ncclscope_record_message(rec), "Channel 00/0 : 0[0] -> 1[1] via P2P/CUM");
    CHECK_INT(rec->via->row, NSC_VIA_CUT);
    rec = next(r);
    CHECK_TEXT(ncclscope_record_host(rec), "vm");
    CHECK_TEXT(ncclscope_record_message(rec), "Using network Socket");
    CHECK_INT(ncclscope_record_line(rec), 3);
    ncclscope_stats s = stats_of(r);
    CHECK_INT(s.records, 4);
    CHECK_INT(s.torn_lines, 1);
    CHECK_INT(s.first_torn[0], 3);
    CHECK_INT(s.unknown, 0);
    end(r);
}

/* A host that no line named before begins where the record before it is whole. */
static void test_split_of_unknown_host(void)
{
    ncclscope_reader *r = fed(
        "vm148:1:9 [2] NCCL INFO ncclCommInitRankConfig comm 0xb1e31a0 rank 6 nranks 8 cudaDev 2 nvmlDev 2 busId a6000 "
        "commId 0x64 - Init STARTvm146:2:2 [0] NCCL INFO Using network Socket\n");
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_INIT_START);
    CHECK_TEXT(ncclscope_record_host(rec), "vm148");
    rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_NET_USING);
    CHECK_TEXT(ncclscope_record_host(rec), "vm146");
    end(r);
}

/* What a value may go on behind is not taken where another record broke in; of four records on one line all are whole. */
static void test_value_cut(void)
{
    static const char value[] = "vm:1:1 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to PH";
    static const char other[] = "vm:2:2 [1] NCCL INFO Using network Socket";
    char text[600];
    snprintf(text, sizeof text, "%s\n%s\n%s%s\n%s%s%s%s\n", other, value, value, other, value, other, value, other);
    ncclscope_reader *r = fed(text);
    next(r);
    CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_ENV_SET);
    const ncclscope_record *rec = next(r);
    CHECK(ncclscope_record_kind(rec) != NCCLSCOPE_KIND_ENV_SET);
    CHECK(ncclscope_record_flags(rec) & NCCLSCOPE_FLAG_TORN);
    CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_NET_USING);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_ENV_SET);
        CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_NET_USING);
    }
    end(r);
}

/* Dots alone are a name that somebody took away; an address is one, however many it has. */
static void test_dotted_host(void)
{
    ncclscope_reader *r = fed("192.0.2.5:7:7 [0] NCCL INFO Using network IB\n"
                              "...:7:7 [0] NCCL INFO Using network IB\n");
    CHECK_TEXT(ncclscope_record_host(next(r)), "192.0.2.5");
    CHECK_TEXT(ncclscope_record_host(next(r)), "192.0.2.5");
    end(r);
}

/* The name of the second has lost its beginning, and got letters of the first. */
static void test_split_in_name(void)
{
    ncclscope_reader *r = fed("node7:1:1 [0] NCCL INFO Connected all trees\n"
                              "node7:2:2 [1] NCCL INFO Connected all trees\n"
                              "node7:1:1 [0] NCCL INFO ncclCommInitRankCoode7:2:2 [1] NCCL INFO Using network Socket\n"
                              "othernode7:2:2 [1] NCCL INFO Using network IB\n");
    next(r);
    next(r);
    next(r);
    const ncclscope_record *rec = next(r);
    CHECK_TEXT(ncclscope_record_host(rec), "node7");
    CHECK_INT(ncclscope_record_pid(rec), 2);
    CHECK_TEXT(ncclscope_record_host(next(r)), "othernode7"); /* nothing is torn there: another node with this pid */
    end(r);
}

/* Of the name two letters are left, and the process is one of a host's own, not of a container; another's digits in a process number. */
static void test_torn_process(void)
{
    static const char line[] = "aig-a100:1622687:1622703 [1] NCCL INFO Using network Socket\n";
    static const char torn[] =
        "aig-a100:1622686:1622707 [0] NCCL INFO ncclPollProxyResponse Recei00:1622687:1622703 [1] NCCL "
        "INFO Using network Socket\n"
        "aig-a100:162268786:1622703 [1] NCCL INFO Using network Socket\n";
    char text[600];
    snprintf(text, sizeof text, "%s%s%s", line, line, torn);
    ncclscope_reader *r = fed(text);
    for (int i = 0; i < 3; i++)
        next(r);
    for (int i = 0; i < 2; i++) {
        const ncclscope_record *rec = next(r);
        CHECK_TEXT(ncclscope_record_host(rec), "aig-a100");
        CHECK_INT(ncclscope_record_pid(rec), 1622687);
    }
    end(r);
}

/* Two hosts whose names end alike, and a process number that both have: the one whose name stands there whole is meant. */
static void test_torn_before_known(void)
{
    ncclscope_reader *r =
        fed("gpu-a07:20000:20000 [0] NCCL INFO Using network Socket\n"
            "gpu-a07:20000:20000 [0] NCCL INFO Using network Socket\n"
            "gpu-c07:30000:30000 [0] NCCL INFO Using network Socket\n"
            "gpu-a07:20000:20001 [0] NCCL INFO ncclPollProxyResponse Recgpu-c07:20000:20000 [0] NCCL INFO Using "
            "network Socket\n");
    for (int i = 0; i < 4; i++)
        next(r);
    CHECK_TEXT(ncclscope_record_host(next(r)), "gpu-c07");
    end(r);
}

/* What no row knows, and stands before every line, is a prefix; the first lines were not torn. Before one line in many it is not. */
static void test_unknown_prefix(void)
{
    static const char line[] = "vm:1:1 [0] NCCL INFO Connected all trees\n", strange[] = "%% job-7/w12 >> ";
    for (int strangers = 0; strangers <= 8; strangers++) {
        char text[2000];
        size_t n = 0;
        for (int i = 0; i < 20; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i < strangers ? strange : "", line);
        ncclscope_reader *r = fed(text);
        for (int i = 0; i < 20; i++)
            CHECK_TEXT(ncclscope_record_host(next(r)), "vm");
        CHECK_INT(stats_of(r).torn_lines, strangers < 4 ? strangers : 0);
        CHECK_INT(stats_of(r).first_torn[0], strangers && strangers < 4 ? 1 : 0);
        end(r);
    }
}

/* Somebody made a warning bold, or put lines into a frame. */
static void test_decorated(void)
{
    ncclscope_reader *r =
        fed("vm:1:1 [0] include/shm.h:28 **NCCL WARN Call to posix_fallocate failed : No space left on device**\n"
            "\xe2\x94\x82 vm:1:1 [0] NCCL INFO Using network Socket    \xe2\x94\x82\n"
            "vm:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send]    via NET/IB/0\n"
            "vm:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA [cite: 12, 40]\n"
            "<host>:1:1 [0] NCCL INFO Using network Socket\n"
            "vm:1:1 [0] showVersion, 544 NCCL INFO Using network IB\n");
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_level(rec), NCCLSCOPE_LEVEL_WARN);
    CHECK_TEXT(ncclscope_record_message(rec), "Call to posix_fallocate failed : No space left on device");
    CHECK_TEXT(ncclscope_record_host(rec), "vm");
    CHECK_TEXT(ncclscope_record_message(next(r)), "Using network Socket");
    CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_CONNECT);
    CHECK_TEXT(ncclscope_record_message(next(r)), "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA");
    CHECK_TEXT(ncclscope_record_host(next(r)), "<host>");
    rec = next(r);
    CHECK_TEXT(ncclscope_record_host(rec), "vm");
    CHECK_TEXT(ncclscope_record_message(rec), "Using network IB");
    CHECK_INT(stats_of(r).torn_lines, 0);
    end(r);
}

/* What PyTorch printed into a header, into a message and behind one, is a record of its own. */
static void test_broken_in(void)
{
    static const char torch[] = "[rank0]:[E ProcessGroupNCCL.cpp:1537] [PG 0 Rank 0] Timeout at NCCL work: 3, last "
                                "enqueued NCCL work: 6, last completed NCCL work: 2.\n";
    static const char *const before[] = {"vm:1:1 [0] NC", "vm:1:1 [0] NCCL INFO Connected all ri",
                                         "vm:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"};
    for (size_t i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", before[i], torch);
        ncclscope_reader *r = fed(text);
        const ncclscope_record *rec = next(r);
        if (i) {
            CHECK_INT(ncclscope_record_kind(rec), i == 2 ? NCCLSCOPE_KIND_CONNECT : NCCLSCOPE_KIND_UNKNOWN);
            rec = next(r);
        }
        CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_TORCH_GAVE_UP);
        CHECK_INT(stats_of(r).torn_lines, 1);
        CHECK_INT(stats_of(r).records, i ? 1 : 0);
        end(r);
    }
}

/* The rest of the first record comes on a later line: put together, whose it is, and where. */
static void test_join(void)
{
    ncclscope_reader *r = fed("vm:1:9 [0] NCCL INFO Bootstrap timings total 0.000600 (create 0.000036, send 0.000096, "
                              "recv 0.000046, ring 0.000068, delay 0.000001)\n"
                              "vm:2:8 [1] NCCL INFO Connected all trees\n"
                              "vm:1:9 [0] NCCL INFO Bootstrap timings total 0.000542 (create 0.000036, send 0.000096, "
                              "recv 0.000046, ring 0.000068, delay 0vm:2:8 [1] "
                              "NCCL INFO Connected all trees\n"
                              "some other line\n"
                              ".000001)\n"
                              ".000001)\n"); /* a rest is paid once: this one is nobody's */
    next(r);
    next(r);
    next(r);
    next(r);
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_BOOTSTRAP_TIMINGS);
    CHECK(ncclscope_record_flags(rec) & NCCLSCOPE_FLAG_JOINED);
    CHECK_INT(ncclscope_record_pid(rec), 1);
    CHECK_INT(ncclscope_record_tid(rec), 9);
    CHECK_INT(ncclscope_record_line(rec), 5);
    double total = 0;
    CHECK(ncclscope_record_f64(rec, NCCLSCOPE_FIELD_TOTAL_S, &total) == 0 && total > 0.000541 && total < 0.000543);
    ncclscope_stats s = stats_of(r);
    CHECK_INT(s.records, 4); /* one marker, one record */
    CHECK_INT(s.torn_lines, 2);
    end(r); /* and no record comes any more */
}

/* Two lines of other programs are no rests of records. */
static void test_no_join(void)
{
    ncclscope_reader *r =
        fed("vm:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMvm:2:2 [1] NCCL INFO Connected all trees\n"
            "0.001)\n"
            "EM or not\n"
            "file or directory\n"
            "step 4 of 5\n");
    next(r);
    next(r);
    CHECK_INT(stats_of(r).torn_lines, 1);
    end(r);
    ncclscope_reader_free(NULL);
}

static void test_damaged_header(void)
{
    ncclscope_reader *r = fed("vm:1:1 [0] NCCL INFO Connected all trees\n"
                              "1:1 [0] NCCL INFO Connected all rings\n"
                              "half a line of anothervm:1:1 [0] NCCL INFO Connected all trees\n"
                              "vm:1:1 [0] NC\n");
    next(r);
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_CONNECTED_RINGS);
    CHECK(ncclscope_record_flags(rec) & NCCLSCOPE_FLAG_TORN);
    CHECK_INT(ncclscope_record_pid(rec), -1);
    rec = next(r);
    CHECK_TEXT(ncclscope_record_host(rec), "vm");
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_CONNECTED_TREES);
    ncclscope_stats s = stats_of(r);
    CHECK_INT(s.records, 3);
    CHECK_INT(s.torn_lines, 2); /* the fourth line was not read yet: there is no record in it */
    const ncclscope_record *none;
    CHECK_INT(ncclscope_reader_next(r, &none, NULL), NCCLSCOPE_END);
    CHECK_INT(stats_of(r).torn_lines, 3);
    end(r);
}

static void test_repeated(void)
{
    ncclscope_reader *r = fed("(RayWorkerWrapper pid=927, ip=192.0.2.7) vm:927:1 [0] NCCL INFO Channel 00/0 : 0[0] -> "
                              "1[1] via P2P/IPC [repeated 7x across cluster]\n"
                              "vm:927:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n");
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_repeated(rec), 6);
    CHECK_TEXT(rec->via->text, "P2P/IPC");
    CHECK_INT(ncclscope_record_repeated(next(r)), 0);
    CHECK_INT(stats_of(r).torn_lines, 0);
    end(r);
}

static void test_wrapped(void)
{
    ncclscope_reader *r = fed("{\"log\":\"vm:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -\\u003e 1[1] via "
                              "P2P/IPC\\n\",\"stream\":\"stdout\",\"time\":\"2026-01-02T03:04:05.6Z\"}\n"
                              "\x1b[36mvm:1:1 [0] NCCL INFO\x1b[0m Connected all trees\r\n"
                              "vm:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -&gt; 1[1] via P2P/IPC\n");
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_CONNECT);
    CHECK_TEXT(ncclscope_record_time(rec), "2026-01-02T03:04:05.6Z");
    CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_CONNECTED_TREES);
    CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_CONNECT);
    CHECK_INT(stats_of(r).torn_lines, 0);
    end(r);
}

/* A header broke off and the next one began, of a process that was not seen before; and a name whose beginning is lost. */
static void test_broken_name(void)
{
    ncclscope_reader *r = fed("gcn146:10:10 [0] NCCL INFO Connected all trees\n"
                              "gcn1gcn146:11:12 [3] NCCL INFO Connected all trees\n"
                              "cn146:13:13 [1] NCCL INFO Connected all trees\n"
                              "gcn146:14:14 [2] NCCL INFO Connected all trees\n");
    static const char *const hosts[] = {"gcn146", "gcn146", "cn146", "gcn146"};
    for (int i = 0; i < 4; i++)
        CHECK_TEXT(ncclscope_record_host(next(r)), hosts[i]);
    CHECK_INT(stats_of(r).torn_lines, 1);
    end(r);
}

/* What was lost lies between host and process: "g32n03:753896:754215 [3]". */
static void test_hole_in_header(void)
{
    ncclscope_reader *r = fed("g32n03:753896:754215 [3] NCCL INFO Connected all trees\n"
                              "g32753896:754215 [3] NCCL INFO Connected all trees\n"
                              "g32n03753896:754215 [3] NCCL INFO Connected all trees\n"
                              "g32753896:754216 [3] NCCL INFO Connected all trees\n");
    static const char *const hosts[] = {"g32n03", "g32n03", "g32n03", "g32753896"};
    static const int64_t pids[] = {753896, 753896, 753896, 754216};
    for (int i = 0; i < 4; i++) {
        const ncclscope_record *rec = next(r);
        CHECK_TEXT(ncclscope_record_host(rec), hosts[i]);
        CHECK_INT(ncclscope_record_pid(rec), pids[i]);
    }
    CHECK_INT(stats_of(r).torn_lines, 3);
    end(r);
}

/* Another's header breaks off within NCCL's name, and what stands behind it has lost its own beginning. */
static void test_header_behind_marker(void)
{
    ncclscope_reader *r = fed("x3200c0s13b1n0:33:743 [1] NCCL INFO Connected all trees\n"
                              "x3200c0s13b1n0:32:741 [0] NCC00c0s13b1n0:33:744 [1] NCCL INFO Connected all rings\n"
                              "x3200c0s13b1n0:32:741 [0] NCC00c0s13b1n0:34:745 [2] NCCL INFO Connected all rings\n");
    static const char *const hosts[] = {"x3200c0s13b1n0", "x3200c0s13b1n0",
                                        "NCC00c0s13b1n0"}; /* of 34 nothing is known */
    for (int i = 0; i < 3; i++)
        CHECK_TEXT(ncclscope_record_host(next(r)), hosts[i]);
    end(r);
}

/* The beginning of a text that has no row of its own is torn, and no text that nobody knows. */
static void test_cut_text(void)
{
    ncclscope_reader *r = fed("vm:1:1 [0] init.cc:1294 NCCL WARN Multiple Ranks are using the same GPU/Partitio\n"
                              "vm:1:1 [0] init.cc:1294 NCCL WARN Multiple Ranks are using the same thing\n");
    CHECK(ncclscope_record_flags(next(r)) & NCCLSCOPE_FLAG_TORN);
    CHECK(!(ncclscope_record_flags(next(r)) & NCCLSCOPE_FLAG_TORN));
    CHECK_INT(stats_of(r).unknown, 1);
    end(r);
}

/* As rich and loggers like it print: the text in a column of its own, its words wrapped there. */
static void test_column(void)
{
    ncclscope_reader *r = fed("[10:11:12] INFO     job-1/algo-1     resources.py:359\n"
                              "                    17384:                           \n"
                              "                    vm:95:124 [0] NCCL INFO Channel  \n"
                              "                    00/0 : 0[0] -> 1[1] via P2P/IPC  \n"
                              "           INFO     job-1/algo-1     resources.py:359\n"
                              "                    17384:                           \n"
                              "                    vm:95:124 [0] init.cc:1 NCCL WARN\n"
                              "                    no table has                     \n"
                              "                    this one                         \n"
                              "                    vm:95:124 [0] NCCL INFO Connected all trees\n"
                              "                    another program's line           \n");
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_CONNECT);
    CHECK_TEXT(ncclscope_record_message(rec), "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC");
    CHECK_INT(ncclscope_record_line(rec), 3);
    rec = next(r);
    CHECK_TEXT(ncclscope_record_message(rec), "no table has this one");
    CHECK_INT(ncclscope_record_line(rec), 7);
    rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_CONNECTED_TREES);
    CHECK_INT(ncclscope_record_line(rec), 10);
    end(r);
}

static void test_other_lines(void)
{
    ncclscope_reader *r = fed("#                                                              out-of-place             "
                              "          in-place          \n"
                              "    67108864      16777216     float     sum      -1    362.1  185.33  324.33      0    "
                              "361.0  185.90  325.32      0\n"
                              "        GPU0    GPU1    CPU Affinity\n"
                              "GPU0     X      NV18    0-63\n"
                              "GPU1    NV18     X      0-63\n");
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_TEST_ROW);
    CHECK_INT(ncclscope_record_level(rec), NCCLSCOPE_LEVEL_OTHER);
    CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_MATRIX_HEAD);
    CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_MATRIX_ROW);
    CHECK_INT(ncclscope_record_kind(next(r)), NCCLSCOPE_KIND_MATRIX_ROW);
    CHECK_INT(stats_of(r).records, 0);
    end(r);
}

/* nccl-tests prints a row before, between and behind its measurements, and NCCL logs while it measures. */
static void test_row_in_pieces(void)
{
    ncclscope_reader *r = fed("vm:1:1 [0] NCCL INFO Connected all trees\n"
                              "          64            16     float     sumvm:1:1 [0] NCCL INFO Connected all rings\n"
                              "vm:1:1 [0] NCCL INFO Connected all trees\n"
                              "    86.86    0.01    0.02      0vm:1:1 [0] NCCL INFO Connected all rings\n"
                              "    85.98    0.01    0.02    N/A\n"
                              "    85.98    0.01    0.02    N/A\n");
    for (int i = 0; i < 4; i++)
        CHECK_INT(ncclscope_record_level(next(r)), NCCLSCOPE_LEVEL_INFO);
    const ncclscope_record *rec = next(r);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_TEST_ROW);
    CHECK_TEXT(ncclscope_record_message(rec),
               "64            16     float     sum 86.86    0.01    0.02      0 85.98    0.01    0.02    N/A");
    CHECK_INT(stats_of(r).torn_lines, 0);
    end(r); /* figures without a row are nothing */
}

/* Hungry until the end is told; then the last line needs no newline. */
static void test_hungry(void)
{
    ncclscope_reader *r = NULL;
    const ncclscope_record *rec;
    CHECK_INT(ncclscope_reader_new(&r, grammar, NULL), 0);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_MORE);
    ncclscope_reader_feed(r, "vm:1:1 [0] NCCL INFO Connected ", 31);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_MORE);
    ncclscope_reader_feed(r, "all trees", 9);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_MORE);
    CHECK(rec == NULL);
    ncclscope_reader_feed(r, "", 0);
    ncclscope_reader_finish(r);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_OK);
    CHECK_INT(ncclscope_record_kind(rec), NCCLSCOPE_KIND_CONNECTED_TREES);
    CHECK_INT(stats_of(r).bytes, 40);
    end(r);
}

static void test_stats_of_other_versions(void)
{
    ncclscope_reader *r = fed("vm:1:1 [0] NCCL INFO Connected all trees\n");
    struct {
        ncclscope_stats s;
        uint64_t more;
    } newer = {.s.size = sizeof newer, .more = 77};
    next(r);
    CHECK_INT(ncclscope_reader_stats(r, &newer.s), NCCLSCOPE_EABI);
    ncclscope_stats s;
    memset(&s, 0x55, sizeof s);
    s.size = offsetof(ncclscope_stats, unknown);
    CHECK_INT(ncclscope_reader_stats(r, &s), 0);
    CHECK_INT(s.records, 1);
    CHECK_INT(s.unknown, 0x5555555555555555); /* behind what an older caller knows, nothing is written */
    end(r);
}

static void test_open(void)
{
    ncclscope_reader *r = (ncclscope_reader *)1;
    ncclscope_error err = {0};
    CHECK_INT(ncclscope_reader_open(&r, grammar, "/no/such/file", &err), NCCLSCOPE_EIO);
    CHECK(r == NULL);
    CHECK(strstr(err.text, "No such file") != NULL);
}

/* A line as long as any may go on in the next one, as a terminal wraps it: who waits for it to do so can ask for it. */
static void test_flush(void)
{
    static const char warn[] =
        "vm:10:10 [0] misc/socket.cc:57 NCCL WARN socketProgress: Connection closed by remote peer "
        "vm-2<35187> of a job that hangs now\n";
    ncclscope_grammar *g = NULL;
    ncclscope_reader *r = NULL;
    const ncclscope_record *rec;
    CHECK_INT(ncclscope_grammar_new(&g, NULL), 0);
    CHECK_INT(ncclscope_reader_new(&r, g, NULL), 0);
    CHECK_INT(ncclscope_reader_feed(r, warn, strlen(warn)), 0);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_MORE);
    ncclscope_reader_flush(r);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_OK);
    CHECK_INT(ncclscope_record_level(rec), NCCLSCOPE_LEVEL_WARN);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_MORE);
    CHECK_INT(ncclscope_reader_feed(r, warn, strlen(warn)), 0);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_MORE); /* and waits again */
    ncclscope_reader_finish(r);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_OK);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), NCCLSCOPE_END);
    CHECK_INT(ncclscope_reader_feed(r, warn, 1), NCCLSCOPE_EINVAL);
    ncclscope_reader_free(r);
    ncclscope_grammar_free(g);
}

static ptrdiff_t give(void *user, void *to, size_t size)
{
    nsc_text *left = user;
    size_t n = left->len < 7 ? left->len : 7;
    n = n < size ? n : size;
    memcpy(to, left->ptr, n);
    *left = nsc_text_from(*left, n);
    return (ptrdiff_t)n;
}

static ptrdiff_t fail(void *user, void *to, size_t size)
{
    (void)user, (void)to, (void)size;
    return -1;
}

static size_t count_records(ncclscope_reader *r, int end)
{
    const ncclscope_record *rec;
    size_t n = 0;
    int rc;
    while ((rc = ncclscope_reader_next(r, &rec, NULL)) == NCCLSCOPE_OK)
        n++;
    CHECK_INT(rc, end);
    ncclscope_reader_free(r);
    return n;
}

/* Of a function, of a descriptor from where it stands, and gzip by hand: all the same records. */
static void test_other_inputs(void)
{
    char path[512];
    ncclscope_grammar *g = NULL;
    ncclscope_reader *r = NULL;
    struct data plain = data_load("logs/2.28.9/h200x4-default.log.gz"), packed = {0};
    data_pack(&packed, data_text(&plain));
    nsc_text whole = data_text(&packed), left = whole, snappy = NSC_TEXT("\xff\x06\0\0sNaPpY0123456789"),
             zstd = NSC_TEXT("(\xb5/\xfd"
                             "0123456789");
    CHECK_INT(ncclscope_grammar_new(&g, NULL), 0);
    snprintf(path, sizeof path, "%s/logs/2.28.9/h200x4-default.log.gz", getenv("TESTDATA"));
    CHECK_INT(ncclscope_reader_open(&r, g, path, NULL), 0);
    size_t n = count_records(r, NCCLSCOPE_END);
    CHECK(n > 100);
    CHECK_INT(ncclscope_reader_of(&r, g, give, &left, NULL), 0);
    CHECK_INT(count_records(r, NCCLSCOPE_END), n);
    CHECK_INT(ncclscope_reader_new(&r, g, NULL), 0);
    CHECK_INT(ncclscope_reader_feed(r, whole.ptr, whole.len), 0);
    ncclscope_reader_finish(r);
    CHECK_INT(count_records(r, NCCLSCOPE_END), n);
    CHECK_INT(ncclscope_reader_new(&r, g, NULL), 0);
    CHECK_INT(ncclscope_reader_feed(r, whole.ptr, whole.len / 2), 0);
    ncclscope_reader_finish(r);
    CHECK(count_records(r, NCCLSCOPE_EDATA) < n);
    CHECK_INT(ncclscope_reader_of(&r, g, fail, NULL, NULL), 0);
    CHECK_INT(count_records(r, NCCLSCOPE_EIO), 0);
    CHECK_INT(ncclscope_reader_of(&r, g, give, &snappy, NULL), 0);
    CHECK_INT(count_records(r, NCCLSCOPE_EUNSUPPORTED), 0);
    CHECK_INT(ncclscope_reader_new(&r, g, NULL), 0); /* which no reader is fed */
    CHECK_INT(ncclscope_reader_feed(r, zstd.ptr, zstd.len), 0);
    CHECK_INT(count_records(r, NCCLSCOPE_EUNSUPPORTED), 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_INT(ncclscope_reader_of_fd(&r, g, fd, NULL), 0);
    CHECK_INT(count_records(r, NCCLSCOPE_END), n);
    CHECK_INT(close(fd), 0); /* it was left open */
    data_drop(&plain);
    data_drop(&packed);
    ncclscope_grammar_free(g);
}

static void test_end(void)
{
    ncclscope_grammar_free(grammar);
}

CHECKS(TEST(test_flush), TEST(test_other_inputs), TEST(test_fields), TEST(test_levels), TEST(test_copied_screen),
       TEST(test_split), TEST(test_split_of_unknown_host), TEST(test_value_cut), TEST(test_dotted_host),
       TEST(test_split_in_name), TEST(test_torn_process), TEST(test_torn_before_known), TEST(test_broken_in),
       TEST(test_unknown_prefix), TEST(test_decorated), TEST(test_join), TEST(test_no_join), TEST(test_damaged_header),
       TEST(test_repeated), TEST(test_wrapped), TEST(test_column), TEST(test_broken_name), TEST(test_hole_in_header),
       TEST(test_header_behind_marker), TEST(test_cut_text), TEST(test_other_lines), TEST(test_row_in_pieces),
       TEST(test_hungry), TEST(test_stats_of_other_versions), TEST(test_open), TEST(test_end))

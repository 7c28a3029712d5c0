/* test_properties.c - wherever the input is cut, and however it comes in, the report is the same, byte for byte. */
#include "data.h"
#include "ncclscope/probe.h"
#include "scene.h"

static ncclscope_grammar *grammar;

static void add_ready(ncclscope_model *m, ncclscope_reader *r)
{
    const ncclscope_record *rec;
    while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
        CHECK_INT(ncclscope_model_add(m, rec), 0);
}

/* The report of `text` fed in pieces that end at `cut` and at the end; 0: in one piece. */
static struct data in_two(nsc_text text, size_t cut)
{
    ncclscope_model *m = NULL;
    ncclscope_reader *r = NULL;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    CHECK_INT(ncclscope_reader_new(&r, grammar, NULL), 0);
    CHECK_INT(ncclscope_model_source(m, "log"), 0);
    if (cut) {
        CHECK_INT(ncclscope_reader_feed(r, text.ptr, cut), 0);
        add_ready(m, r);
    }
    CHECK_INT(ncclscope_reader_feed(r, text.ptr + cut, text.len - cut), 0);
    add_ready(m, r);
    ncclscope_reader_finish(r);
    add_ready(m, r);
    CHECK_INT(ncclscope_model_source_end(m, r, NULL), 0);
    CHECK_INT(ncclscope_model_finish(m, NULL), 0);
    struct data out = scene_report(m);
    ncclscope_reader_free(r);
    ncclscope_model_free(m);
    return out;
}

/* Every `step`-th cut, and of `most` at the end of the log every one. */
static void try_cuts(const char *name, size_t step, size_t most)
{
    struct data log = data_load(name), whole = in_two(data_text(&log), 0);
    size_t wrong = 0;
    CHECK(nsc_text_find(data_text(&whole), "\"schema\":\"ncclscope.report/1\"") >= 0);
    for (size_t cut = 1; cut <= log.len; cut += log.len - cut < most ? 1 : step) {
        struct data part = in_two(data_text(&log), cut);
        wrong += !nsc_text_eq(data_text(&part), data_text(&whole));
        data_drop(&part);
    }
    if (wrong)
        printf("%s: %zu cuts change the report\n", name, wrong);
    CHECK_INT(wrong, 0);
    data_drop(&whole);
    data_drop(&log);
}

static void test_every_cut(void)
{
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
    try_cuts("logs/seed/pods-shm-socket.log", 1, 0);
    try_cuts("logs/2.28.9/h200x8-ifname-missing.log", 1, 0);
    try_cuts("logs/2.28.9/h200x8-debug-warn.log", 1, 0);
    try_cuts("logs/2.28.9/h200x8-pod-per-gpu-split-logs.pod7.log", 5, 100);
}

static void test_some_cuts(void)
{
    try_cuts("logs/2.28.9/h200x8-p2p-disabled-shm.log", 401, 20);
    try_cuts("logs/2.30.7/h200x4-p2p-disabled-shm.log", 173, 20); /* torn lines */
    try_cuts("logs/seed/p4d-4pods-1gpu-efa.log", 293, 20);
    try_cuts("logs/2.28.9/h200x8-torchrun-tee.log.gz", 9973, 3);
    try_cuts("logs/2.27.3/h200x4-small-devshm.log", 307, 20);
    try_cuts("topo/h200x8-topo-m.txt", 7, 20);
}

/* By hand, through a scan, and through a store that is asked for nothing: the same report but for the names. */
static void test_scan_is_feed(void)
{
    static const char *const logs[] = {"logs/2.28.9/h200x8-p2p-disabled-shm.log",
                                       "logs/2.30.7/h200x4-two-nodes.log.gz"};
    for (size_t i = 0; i < 2; i++) {
        struct data log = data_load(logs[i]), fed, scanned;
        char path[64], *name;
        data_file(path, data_text(&log));
        const char *paths[] = {path};
        ncclscope_model *m = NULL;
        CHECK_INT(ncclscope_scan(&m, grammar, paths, 1, NULL, NULL), 0);
        scanned = scene_report(m);
        fed = in_two(data_text(&log), 0);
        name = strstr(scanned.ptr, path);
        CHECK(name != NULL);
        if (name) { /* "name":"/tmp/..." to "name":"log" */
            memmove(name + 3, name + strlen(path), strlen(name + strlen(path)) + 1);
            memcpy(name, "log", 3);
        }
        CHECK_TEXT(nsc_text_of(scanned.ptr), fed.ptr);
        ncclscope_model_free(m);
        data_drop(&log);
        data_drop(&fed);
        data_drop(&scanned);
        unlink(path);
    }
}

/* Facts of the machine tell the same whether a model gets them while it grows or when it is finished. */
static void test_facts_before_and_after(void)
{
    struct data log = data_load("logs/2.30.7/h200x4-p2p-disabled-shm.log"), out[2];
    char path[600];
    ncclscope_facts *facts = NULL;
    snprintf(path, sizeof path, "%s/machines/h200x4.json", getenv("TESTDATA"));
    CHECK_INT(ncclscope_facts_load(&facts, path, NULL), 0);
    for (int before = 0; before < 2; before++) {
        struct scene s = {NULL, NULL};
        scene_add(&s, "log", data_text(&log));
        if (before)
            ncclscope_model_facts(s.model, facts);
        CHECK_INT(ncclscope_model_finish(s.model, NULL), 0);
        if (!before)
            ncclscope_model_facts(s.model, facts);
        out[before] = scene_report(s.model);
        CHECK(nsc_text_find(data_text(&out[before]), "\"gpus\":[{") >= 0);
        scene_end(&s);
    }
    CHECK(nsc_text_eq(data_text(&out[0]), data_text(&out[1])));
    data_drop(&out[0]);
    data_drop(&out[1]);
    data_drop(&log);
    ncclscope_facts_free(facts);
}

/* What has been read by then is a whole report, wherever a log ends: a job that is still running. */
static void test_every_end(void)
{
    struct data log = data_load("logs/2.30.7/h200x4-p2p-disabled-shm.log");
    for (size_t len = 0; len < log.len; len += 211) {
        struct data out = in_two((nsc_text){log.ptr, len}, 0);
        CHECK(out.len > 100 && out.ptr[0] == '{');
        data_drop(&out);
    }
    data_drop(&log);
    ncclscope_grammar_free(grammar);
}

CHECKS(TEST(test_every_cut), TEST(test_some_cuts), TEST(test_scan_is_feed), TEST(test_facts_before_and_after),
       TEST(test_every_end))

/* cmd_scan.c - ncclscope [scan] [INPUT...]: logs in, a report out. */
#include "commands.h"
#include "interrupt.h"
#include "opt.h"
#include "output.h"
#include "progress.h"
#include "scan.h"

#include "ncclscope/jobs.h"
#include "ncclscope/probe.h"
#include "ncclscope/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_level(const char *word)
{
    static const char *const words[] = {"", "note", "warning", "error", "never"};
    for (int i = 1; i < 5; i++)
        if (!strcmp(word, words[i]))
            return i;
    return -1;
}

int report_flags(const struct scan *s)
{
    const char *no_color = getenv("NO_COLOR");
    bool terminal = !s->output && isatty(STDOUT_FILENO) && !(no_color && *no_color);
    bool color = !strcmp(s->color, "always") || (!strcmp(s->color, "auto") && terminal);
    return (color ? NCCLSCOPE_REPORT_COLOR : 0) | terminal_flags() | (s->verbose ? NCCLSCOPE_REPORT_VERBOSE : 0) |
           (s->quiet ? NCCLSCOPE_REPORT_VERDICT : 0);
}

/* ".json" of "reports/run.json"; "" of a name without one. */
const char *ending_of(const char *name)
{
    const char *slash = name ? strrchr(name, '/') : NULL, *base = slash ? slash + 1 : name;
    const char *dot = base ? strrchr(base, '.') : NULL;
    return dot && dot != base ? dot : "";
}

/* A report has the form that the ending of its name promises, or is none. */
static bool is_form(const char *ending)
{
    static const char *const forms[] = {"", ".json", ".txt", ".text", ".log", ".out", ".report"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (!strcmp(ending, forms[i]))
            return true;
    return false;
}

static int write_report(const struct scan *s, struct output *file, const ncclscope_model *m,
                        const ncclscope_findings *f)
{
    const char *format = s->json || !strcmp(ending_of(s->output), ".json") ? "json" : "text";
    struct output *out = output_or_standard(file);
    if (output_is_source(out, m) || output_is_one_of(out, &s->db, 1) || output_open(out)) /* a new store is there now */
        return EXIT_INPUT;
    int rc = ncclscope_report(m, f, format, terminal_columns(), report_flags(s), output_write, out);
    if (rc == NCCLSCOPE_ENOMEM)
        tell("", "out of memory");
    int unwritten = output_end(file, rc != NCCLSCOPE_ENOMEM);
    return rc == NCCLSCOPE_ENOMEM ? EXIT_INPUT : unwritten;
}

int exit_code(const struct scan *s, const ncclscope_findings *f, bool damaged)
{
    int worst = 0, verdict = ncclscope_findings_verdict(f);
    for (size_t i = 0; i < ncclscope_findings_count(f); i++)
        worst = ncclscope_finding_severity(f, i) > worst ? ncclscope_finding_severity(f, i) : worst;
    if (damaged)
        return EXIT_INPUT;
    if (ncclscope_expectations(f, NCCLSCOPE_BROKEN))
        return EXIT_FINDING;
    if (verdict == NCCLSCOPE_NO_EVIDENCE || (verdict == NCCLSCOPE_NO_NCCL_LINES && worst < fail_level(s->fail_on)))
        return EXIT_NO_ANSWER;
    return worst >= fail_level(s->fail_on)                    ? EXIT_FINDING
           : ncclscope_expectations(f, NCCLSCOPE_CANNOT_TELL) ? EXIT_NO_ANSWER
                                                              : EXIT_FINE;
}

/* How many inputs are read at a time: -j, else a core each; 0: that is no number of them. */
static long jobs_of(const char *word)
{
    enum { MOST = 256 };
    if (!word) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        return cores < 1 ? 1 : cores < MOST ? cores : MOST;
    }
    char *end;
    long n = strtol(word, &end, 10);
    return *word && !*end && n >= 1 && n <= MOST ? n : 0;
}

static ncclscope_scan_options options_of(const struct scan *s, struct progress *progress)
{
    ncclscope_scan_options how = reading;
    how.jobs = (uint32_t)jobs_of(s->jobs);
    if (!s->no_progress)
        progress_follow(progress, &how);
    return how;
}

/* Through the store if there is one; *db is NULL without --db. */
static int scan(const struct scan *s, const char *const *paths, size_t n, ncclscope_grammar *g, ncclscope_model **m,
                ncclscope_store **db, ncclscope_error *err)
{
    struct progress progress = {0};
    ncclscope_scan_options how = options_of(s, &progress);
    interrupt_hear();
    int rc = s->db ? ncclscope_store_open(db, s->db, err) : NCCLSCOPE_OK;
    if (!rc)
        rc = unless_stopped(s->db ? ncclscope_store_scan(*db, m, g, paths, n, &how, err)
                                  : ncclscope_scan(m, g, paths, n, &how, err));
    progress_end(&progress);
    return rc;
}

/* Before anything is read: is the output fit to be one, and none of what is named as an input? */
static bool has_bad_output(const struct scan *s, struct output *out, const char *const *paths, size_t n)
{
    const char *const beside[] = {s->patterns, s->pod, s->facts, s->db};
    return output_find(out, s->output) || output_is_one_of(out, paths, n) ||
           output_is_one_of(out, beside, sizeof beside / sizeof beside[0]);
}

/* Judges and reports a model of one job. */
static int report_one(const struct scan *s, struct output *out, ncclscope_grammar *g, ncclscope_model *m,
                      ncclscope_store *db)
{
    ncclscope_error err = {0};
    ncclscope_findings *f = NULL;
    ncclscope_facts *facts = NULL;
    int code = EXIT_INPUT;
    bool lost = false; /* an input beside the logs could not be read */
    if (s->pod && ncclscope_model_pods(m, s->pod, &err)) {
        tell(s->pod, err.text); /* the log is reported all the same */
        lost = true;
    }
    if (s->facts && ncclscope_facts_load(&facts, s->facts, &err)) {
        tell(s->facts, err.text);
        lost = true;
    }
    if (facts)
        ncclscope_model_facts(m, facts);
    int rc = ncclscope_analyse(&f, m, &err);
    rc = rc || !s->expect ? rc : ncclscope_expect(f, s->expect, &err);
    if (rc == NCCLSCOPE_OK) {
        bool damaged = tell_problems(m) || lost;
        tell_slow_patterns(g);
        code = write_report(s, out, m, f);
        rc = db ? ncclscope_store_add(db, m, f, &err) : NCCLSCOPE_OK;
        code = code == EXIT_FINE ? exit_code(s, f, damaged) : code;
    }
    if (rc != NCCLSCOPE_OK) {
        tell(s->db ? s->db : "", err.text);
        code = EXIT_INPUT;
    }
    ncclscope_findings_free(f);
    ncclscope_facts_free(facts);
    return code;
}

static int scan_one(const struct scan *s, struct output *out, ncclscope_grammar *g, const char *const *paths, size_t n)
{
    ncclscope_error err = {0};
    ncclscope_model *m = NULL;
    ncclscope_store *db = NULL;
    int code = EXIT_INPUT;
    if (scan(s, paths, n, g, &m, &db, &err))
        tell(s->db ? s->db : "", err.text);
    else
        code = report_one(s, out, g, m, db);
    ncclscope_store_close(db);
    ncclscope_model_free(m);
    return code;
}

/* ---- many jobs ---- */

/* Folders and archives may hold several jobs; files that are named one by one are of one, unless something else is said. */
static bool may_hold_many(const struct scan *s, const char *const *paths, size_t n)
{
    static const char *const archives[] = {".tar", ".tgz", ".zip"};
    struct stat st;
    if (s->group_by && !strcmp(s->group_by, "all"))
        return false;
    bool many = s->group_by || s->job;
    for (size_t i = 0; i < n && !many; i++) {
        many = stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode);
        for (size_t k = 0; k < sizeof archives / sizeof archives[0]; k++)
            many = many || strstr(paths[i], archives[k]);
    }
    return many;
}

static int no_such_job(const struct scan *s, const ncclscope_jobs *j)
{
    enum { SHOWN = 8 };
    tell(s->job, "no job is called that; there are:");
    size_t n = ncclscope_jobs_count(j);
    for (size_t i = 0; i < n && i < SHOWN; i++)
        tell("", ncclscope_job_name(j, i));
    if (n > SHOWN)
        fprintf(stderr, "ncclscope: and %zu more\n", n - SHOWN);
    return EXIT_USAGE;
}

static int report_job(const struct scan *s, struct output *out, ncclscope_grammar *g, const ncclscope_jobs *j, size_t i,
                      ncclscope_store *db)
{
    ncclscope_error err = {0};
    ncclscope_model *m = NULL;
    int code = EXIT_INPUT;
    if (db ? ncclscope_store_job(db, &m, i, &err) : ncclscope_job_model(&m, j, i, &err))
        tell(s->db ? s->db : "", err.text);
    else
        code = report_one(s, out, g, m, db);
    ncclscope_model_free(m);
    return code;
}

/* Through the store if there is one; *db is NULL without --db. */
static int read_jobs(const struct scan *s, const char *const *paths, size_t n, ncclscope_grammar *g, ncclscope_jobs **j,
                     ncclscope_store **db, ncclscope_error *err)
{
    struct progress progress = {0};
    ncclscope_scan_options how = options_of(s, &progress);
    const char *by = s->group_by ? s->group_by : "auto";
    interrupt_hear();
    int rc = s->db ? ncclscope_store_open(db, s->db, err) : NCCLSCOPE_OK;
    if (!rc)
        rc = unless_stopped(s->db ? ncclscope_store_jobs(*db, j, g, paths, n, by, &how, err)
                                  : ncclscope_jobs_scan(j, g, paths, n, by, &how, err));
    progress_end(&progress);
    return rc;
}

/* There is no file: what is said then is not kept. */
static int scan_nothing(const struct scan *s, struct output *out, ncclscope_grammar *g)
{
    struct scan plain = *s;
    plain.db = NULL;
    return scan_one(&plain, out, g, NULL, 0);
}

static int scan_many(const struct scan *s, struct output *out, ncclscope_grammar *g, const char *const *paths, size_t n)
{
    ncclscope_error err = {0};
    ncclscope_jobs *j = NULL;
    ncclscope_store *db = NULL;
    int rc = read_jobs(s, paths, n, g, &j, &db, &err);
    if (rc) {
        tell(rc == NCCLSCOPE_EPATTERN ? "--group-by" : s->db ? s->db : "", err.text);
        ncclscope_store_close(db);
        ncclscope_jobs_free(j);
        return rc == NCCLSCOPE_EPATTERN ? EXIT_USAGE : EXIT_INPUT;
    }
    size_t i = 0, jobs = ncclscope_jobs_count(j);
    while (s->job && i < jobs && strcmp(ncclscope_job_name(j, i), s->job) != 0)
        i++;
    int code;
    if (s->job && i == jobs)
        code = no_such_job(s, j);
    else if (!jobs)
        code = scan_nothing(s, out, g);
    else if (s->job || jobs <= 1)
        code = report_job(s, out, g, j, i, db);
    else if (s->pod || s->facts) {
        tell("", "--pod and --facts are of one job: say which by --job");
        code = EXIT_USAGE;
    } else
        code = report_jobs(s, out, j, db);
    ncclscope_store_close(db);
    ncclscope_jobs_free(j);
    return code;
}

static int run(const struct scan *s, struct output *out, const char *const *paths, size_t n)
{
    ncclscope_error err = {0};
    ncclscope_grammar *g = NULL;
    int code = EXIT_INPUT;
    if (ncclscope_grammar_new(&g, &err))
        tell("", err.text);
    else if (s->patterns && add_patterns(g, s->patterns))
        code = EXIT_USAGE;
    else
        code = may_hold_many(s, paths, n) ? scan_many(s, out, g, paths, n) : scan_one(s, out, g, paths, n);
    ncclscope_grammar_free(g);
    return code;
}

int cmd_scan(int argc, char **argv)
{
    struct scan s = {.fail_on = "warning", .color = "auto"};
    const char *stdin_only[] = {"-"};
    const struct opt table[] = {
        {"--json", 0, NULL, "the report as JSON, schema ncclscope.report/1", &s.json, NULL},
        {"--output", 'o', "FILE", "write the report there; .json in the name makes it JSON", NULL, &s.output},
        {"--db", 0, "FILE", "add records, model and findings to a SQLite file", NULL, &s.db},
        {"--patterns", 0, "FILE", "rows for lines of private plugins: name = template", NULL, &s.patterns},
        {"--fail-on", 0, "SEVERITY", "note, warning (default), error or never: from where on the exit is 1", NULL,
         &s.fail_on},
        {"--expect", 0, "LIST", "assert paths, as in nvlink,no-shm,gdr,ranks>=8: exit 1 and who breaks it", NULL,
         &s.expect},
        {"--pod", 0, "FILE", "what Kubernetes says of the pods (kubectl get pod -o json), as extra evidence", NULL,
         &s.pod},
        {"--facts", 0, "FILE", "what `ncclscope probe --save` wrote on the machine of the log, as extra evidence", NULL,
         &s.facts},
        {"--unknown", 0, NULL, "instead of the report, list the lines not understood, by shape with counts", &s.unknown,
         NULL},
        {"--quiet", 'q', NULL, "the verdict alone", &s.quiet, NULL},
        {"--verbose", 'v', NULL, "notes in full, all evidence, rules that could not judge", &s.verbose, NULL},
        {"--jobs", 'j', "N", "inputs that are read at a time; else one a core. The report is the same", NULL, &s.jobs},
        {"--group-by", 0, "WHAT",
         "what one job is in a folder or an archive: auto (default), file, dir, all, or what REGEX finds in a path",
         NULL, &s.group_by},
        {"--job", 0, "NAME", "of several jobs, the report of this one", NULL, &s.job},
        {"--no-progress", 0, NULL, "no line on the terminal that tells how far a long reading is", &s.no_progress,
         NULL},
        {"--color", 0, "WHEN", "auto (default), always or never; NO_COLOR is respected", NULL, &s.color},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP) {
        puts("usage: ncclscope [scan] [OPTION...] [INPUT...]\n\nReads logs (files, packed or plain, archives, "
             "directories, - for "
             "standard input) and prints the report; of a folder of many jobs a table, worst first.\n");
        opt_help(table);
        return EXIT_FINE;
    }
    if (parsed != OPT_OK)
        return EXIT_USAGE;
    bool color = !strcmp(s.color, "auto") || !strcmp(s.color, "always") || !strcmp(s.color, "never");
    if (fail_level(s.fail_on) < 0 || !color) {
        fprintf(stderr, "ncclscope: %s\n",
                color ? "--fail-on takes note, warning, error or never" : "--color takes auto, always or never");
        return EXIT_USAGE;
    }
    if (!jobs_of(s.jobs)) {
        fprintf(stderr, "ncclscope: -j takes a number from 1 to 256\n");
        return EXIT_USAGE;
    }
    struct stat there; /* a device or a pipe is called what it is called */
    if (!is_form(ending_of(s.output)) && !(stat(s.output, &there) == 0 && !S_ISREG(there.st_mode))) {
        tell(s.output, "no report has that form: .json makes it JSON, .txt or no ending text");
        return EXIT_USAGE;
    }
    ncclscope_error wrong = {0};
    if (s.db && s.job) {
        fprintf(stderr, "ncclscope: --db keeps all jobs, each for itself: leave --job out\n");
        return EXIT_USAGE;
    }
    if (s.unknown && s.expect) {
        fprintf(stderr, "ncclscope: --unknown prints no report that --expect could judge\n");
        return EXIT_USAGE;
    }
    if (s.expect && ncclscope_expect(NULL, s.expect, &wrong)) {
        tell("", wrong.text);
        return EXIT_USAGE;
    }
    if (!left && isatty(STDIN_FILENO))
        fprintf(stderr, "ncclscope: reading standard input (Ctrl-D ends it)\n");
    if (s.unknown)
        return print_coverage(left ? (const char *const *)argv : stdin_only, left ? (size_t)left : 1, "unknown",
                              s.patterns);
    const char *const *paths = left ? (const char *const *)argv : stdin_only;
    size_t n = left ? (size_t)left : 1;
    struct output out;
    int code = has_bad_output(&s, &out, paths, n) ? EXIT_INPUT : run(&s, &out, paths, n);
    output_drop(&out);
    return code;
}

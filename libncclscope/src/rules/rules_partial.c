/* rules_partial.c - ranks that are elsewhere: in the logs of other processes, or in jobs of their own. */
#include "rules/ask.h"

#include <stdlib.h>

/* ---- ranks that are elsewhere ---- */

/* Does the process of its one rank here speak for several GPUs ("[0]" and "[1]" in its headers)? */
static bool has_several_devices(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    return k->count && __builtin_popcountll(m->procs.item[m->ranks.item[m->members.item[k->first]].proc].devices) > 1;
}

static int by_rank(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* "[rank25]:[E ProcessGroupNCCL.cpp:1316] ...": does one of these ranks, of the only communicator, speak, though not by a line of NCCL's? */
static bool any_speaks(const struct ncclscope_model *m, const struct nsc_finding *f)
{
    for (size_t i = 0; m->comms.len == 1 && f->ranks.len && i < m->happened.len; i++) {
        uint64_t rank = (uint64_t)m->happened.item[i].torch_rank; /* none is a number that no rank has */
        if (bsearch(&rank, f->ranks.item, f->ranks.len, sizeof rank, by_rank))
            return true;
    }
    return false;
}

static const char *title_of_part(struct nsc_case *c, struct nsc_finding *f, int64_t nranks, int64_t comms)
{
    bool one = f->count == 1,
         unnamed = c->m->whole.unnamed_gpus > 0 || nsc_any_unowned(c->m); /* their lines may be here */
    nsc_text id = nsc_say(c->m, c->m->comms.item[f->comm].id);
    const char *of = comms > 1 ? nsc_words(c, "%lld communicators", (long long)comms)
                     : c->m->comms.len > 1 && nsc_text_starts(id, "0x") ? nsc_words(c, "communicator %s", id.ptr)
                                                                        : "a communicator";
    const struct nsc_finding *told = c->f->list.item;
    while (told < c->f->list.item + c->f->list.len && told->rule != f->rule)
        told++;
    bool again = told < c->f->list.item + c->f->list.len && told != f;
    const char *left_out = c->m->repeated && !again ? "; Ray leaves out equal lines (RAY_DEDUP_LOGS=0 shows them)" : "";
    if (unnamed && !c->m->cut_inits) /* other lines may name the rank */
        return nsc_words(c, "No Init line says which process%s running %llu of %lld ranks of %s: %s%s",
                         one ? " is" : "es are", (unsigned long long)f->count, (long long)nranks, of,
                         nsc_list_ranks(c, f), left_out);
    return nsc_words(c, "%llu of %lld ranks of %s %s: %s%s", (unsigned long long)f->count, (long long)nranks, of,
                     c->m->cut_inits       ? one ? "has no whole Init line here" : "have no whole Init line here"
                     : any_speaks(c->m, f) ? one ? "has no line of NCCL's here" : "have no line of NCCL's here"
                     : one                 ? "is not in this input"
                                           : "are not in this input",
                     nsc_list_ranks(c, f), left_out);
}

/* The last finding, if it is about a communicator of as many ranks that lacks the same: those of the same processes lie side by side. */
static struct nsc_finding *last_alike(const struct nsc_case *c, const struct nsc_finding *lacks)
{
    struct nsc_finding *f = c->f->list.len ? &c->f->list.item[c->f->list.len - 1] : NULL;
    const struct nsc_comm *comms = c->m->comms.item;
    bool alike = f && f->rule == lacks->rule && f->count == lacks->count && f->ranks.len == lacks->ranks.len &&
                 comms[f->comm].nranks == comms[lacks->comm].nranks &&
                 (!f->ranks.len || !memcmp(f->ranks.item, lacks->ranks.item, f->ranks.len * sizeof *f->ranks.item));
    return alike ? f : NULL;
}

static int why_absent(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    bool one = true; /* a process may have all ranks of a node */
    for (uint32_t x = 1; x < k->count; x++)
        one = one && m->ranks.item[m->members.item[k->first + x]].proc == m->ranks.item[m->members.item[k->first]].proc;
    return m->repeated                                          ? NSC_ABSENT_DEDUPLICATED
           : one && (k->count > 1 || has_several_devices(m, k)) ? NSC_ABSENT_OF_PROCESS
                                                                : NSC_ABSENT_OF_OTHERS;
}

/* Ranks that nccl-tests lists as those of processes whose lines are here: only the line that joins the two was left out. Host and pid
 * together name a process: pids of containers are equal. */
static bool find_listed(struct nsc_case *c, struct nsc_map *here)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map procs = {0};
    bool fine = true;
    for (size_t i = 0; m->whole.listed && fine && i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        fine = !nsc_map_put(&procs, (struct nsc_key){p->host, (uint64_t)p->pid, 0}, 0);
    }
    for (size_t i = 0; m->whole.listed && fine && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank, pid;
        if (r->number != NCCLSCOPE_KIND_TEST_RANK || !nsc_number_said(m, r, "rank", &rank) ||
            !nsc_number_said(m, r, "pid", &pid))
            continue;
        nsc_str host = nsc_intern_find(&m->strings, nsc_said(m, r, "name"));
        if (nsc_map_get(&procs, (struct nsc_key){host, (uint64_t)pid, 0}) != NSC_NONE)
            fine = !nsc_map_put(here, (struct nsc_key){(uint64_t)rank, 0, 0}, 0);
    }
    nsc_map_free(&procs);
    return fine;
}

static bool are_listed(const struct ncclscope_model *m, const struct nsc_comm *k, const struct nsc_finding *lacks,
                       const struct nsc_map *here)
{
    bool all = m->whole.listed == (uint64_t)k->nranks && lacks->ranks.len == lacks->count;
    for (size_t i = 0; all && i < lacks->ranks.len; i++)
        all = nsc_map_get(here, (struct nsc_key){lacks->ranks.item[i], 0, 0}) != NSC_NONE;
    return all;
}

/* "; the end of rank 8's initialisation is not here, those of the 6 others are" */
static const char *unfinished_here(struct nsc_case *c, const struct nsc_comm *k)
{
    enum { NAMED = 4 };
    const char *names = "";
    uint32_t open = 0, ended = 0;
    for (uint32_t n = 0; n < k->count; n++) {
        const struct nsc_rank *r = &c->m->ranks.item[c->m->members.item[k->first + n]];
        bool timed = r->init_seconds >= 0; /* which is printed at its end */
        ended += r->complete.line > 0 || timed;
        if (r->complete.line || timed || r->used || r->called || r->split_off || r->destroyed.line)
            continue;
        if (++open > NAMED)
            return "";
        names = nsc_words(c, "%s%s%lld", names, open > 1 ? ", " : "", (long long)r->rank);
    }
    if (!open || !ended)
        return "";
    const char *others = ended == 1 ? "not that of one other" : nsc_words(c, "not those of the %u others", ended);
    return open == 1 ? nsc_words(c, "; this input lacks the end of rank %s's initialisation, %s", names, others)
                     : nsc_words(c, "; this input lacks the end of the initialisation of ranks %s, %s", names, others);
}

/* "Read file <logs/train.3330180.e> for stderr output of this job." */
static void tell_stderr(struct nsc_case *c)
{
    enum { SHOWN = 160 };
    const struct nsc_own_record *r = nsc_first_heard(c->m, NCCLSCOPE_KIND_LSF_STDERR);
    if (!r || c->m->sources.len > 1) /* it may be one of them */
        return;
    nsc_text file = nsc_text_upto(nsc_said(c->m, r, "file"), SHOWN);
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
    f->count = 1;
    f->title = nsc_words(c, "LSF wrote the job's standard error into another file (%.*s), which is not in this input",
                         (int)file.len, file.ptr);
    nsc_explain_by(c, f, NSC_ABSENT_STDERR);
    nsc_show(c, f, &r->where);
}

void nsc_rule_partial(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map here = {0};
    int64_t comms = 0; /* that the last finding is about */
    c->f->no_memory = !find_listed(c, &here) || c->f->no_memory;
    for (uint32_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        bool part = (k->state == NSC_PARTIAL || k->state == NSC_ABORTED) && k->seen < k->nranks;
        if (!part || k->parent != NSC_NONE)
            continue;
        struct nsc_finding lacks = {.rule = c->rule, .comm = i};
        lacks.count = (uint64_t)nsc_name_absent(c, k, &lacks);
        if (are_listed(m, k, &lacks, &here)) {
            nsc_finding_free(&lacks);
            continue;
        }
        struct nsc_finding *f = last_alike(c, &lacks);
        comms = f ? comms + 1 : 1;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
            f->count = lacks.count;
            f->comm = i;
            nsc_name_absent(c, k, f);
            nsc_explain_by(c, f, why_absent(m, k));
        }
        nsc_finding_free(&lacks);
        f->title = title_of_part(c, f, k->nranks, comms);
        if (comms == 1)
            f->title = nsc_words(c, "%s%s", f->title, unfinished_here(c, k));
        nsc_show(c, f, &k->where);
    }
    nsc_map_free(&here);
    tell_stderr(c);
}

/* ---- ranks that were never told of each other ---- */

/* nccl-tests lists the ranks it knows of: "#  Rank  0 Group  0 Pid  13510 on ...", by processes each of which lists none but its own. */
struct lone {
    uint32_t programs;
    int64_t ranks;     /* the most that one lists */
    bool of_one_count; /* each lists as many */
    bool at_once;      /* no result of the first stands before the list of another */
};

/* Does this line tell of an end of nccl-tests? */
static bool ends_test(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_TEST_BOUNDS || r->number == NCCLSCOPE_KIND_TEST_AVERAGE;
}

/* Did a test measure something between these lines? `next`: the first row that is not looked at yet; lines come in order. */
static bool measured_between(const struct ncclscope_model *m, const struct nsc_where *a, const struct nsc_where *b,
                             size_t *next)
{
    bool measured = a->source != b->source;
    for (; *next < m->tests.len; ++*next) {
        const struct nsc_where *row = &m->tests.item[*next].where;
        if (row->source > b->source || (row->source == b->source && row->line > b->line))
            break;
        measured = measured || (row->source == a->source && row->line > a->line);
    }
    return measured;
}

/* Its process and rank; false: no line of the list. */
static bool is_listed(const struct ncclscope_model *m, const struct nsc_own_record *r, struct nsc_key *process,
                      int64_t *rank)
{
    int64_t pid;
    if (r->number != NCCLSCOPE_KIND_TEST_RANK || !nsc_number_said(m, r, "rank", rank) ||
        !nsc_number_said(m, r, "pid", &pid))
        return false;
    *process = (struct nsc_key){nsc_field_of(m, r, "name"), (uint64_t)pid, 0};
    return true;
}

static struct lone lone_programs(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct lone x = {.of_one_count = true, .at_once = true};
    struct nsc_map lists = {0}; /* a process that lists rank 0 to how many it lists */
    const struct nsc_where *first = NULL;
    struct nsc_key process;
    int64_t rank;
    size_t row = 0;
    bool knows_others = false, ended = false; /* rank 0 knows of another process; a test had come to its end */
    for (size_t i = 0; i < m->happened.len && !knows_others; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        ended = ended || (first && ends_test(r));
        if (!is_listed(m, r, &process, &rank))
            continue;
        uint32_t listed = nsc_map_get(&lists, process);
        knows_others = rank && listed == NSC_NONE;
        x.programs += listed == NSC_NONE;
        x.at_once = x.at_once && (!first || rank || !(ended || measured_between(m, first, &r->where, &row)));
        first = first ? first : &r->where;
        listed = listed == NSC_NONE ? 1 : listed + 1;
        x.ranks = listed > x.ranks ? listed : x.ranks;
        c->f->no_memory = nsc_map_put(&lists, process, listed) || c->f->no_memory;
    }
    x.programs = knows_others ? 0 : x.programs;
    for (size_t i = 0; x.programs && i < m->happened.len; i++)
        if (is_listed(m, &m->happened.item[i], &process, &rank))
            x.of_one_count = x.of_one_count && nsc_map_get(&lists, process) == x.ranks;
    nsc_map_free(&lists);
    return x;
}

/* "mpirun -np 2 ... ./all_reduce_perf": a command that starts processes as one job. */
static bool is_started_as_one(const struct ncclscope_model *m)
{
    static const char *const names[] = {"mpirun ", "mpiexec ", "prterun ", "srun ", NULL};
    for (size_t i = 0; nsc_first_heard(m, NCCLSCOPE_KIND_COMMAND) && i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_COMMAND &&
            nsc_text_has_any(m->happened.item[i].where.text, names))
            return true;
    return false;
}

/* A launcher started several, and each is a job of its own ranks: the program was built without MPI. Hosts that are tested each by itself, and
 * on purpose, look alike. */
void nsc_rule_made_alone(struct nsc_case *c)
{
    struct lone x = lone_programs(c);
    bool alone = x.programs > 1 && (x.ranks == 1 || (x.at_once && x.of_one_count));
    for (size_t i = 0; i < c->m->comms.len; i++)
        alone = alone && c->m->comms.item[i].nranks <= x.ranks;
    if (!alone)
        return;
    bool one = x.ranks == 1 || is_started_as_one(c->m);
    struct nsc_finding *f = nsc_found(c, one ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE, "fault", "likely");
    f->count = x.programs;
    for (size_t i = 0; i < c->m->happened.len; i++) {
        struct nsc_key process;
        int64_t rank;
        if (is_listed(c->m, &c->m->happened.item[i], &process, &rank) && !rank)
            nsc_show(c, f, &c->m->happened.item[i].where);
    }
    f->title = x.ranks == 1
                   ? nsc_words(c, "%u processes ran, each as a separate job with only one rank", x.programs)
                   : nsc_words(c, "%u processes ran at the same time, each as a separate job of %lld ranks of its own",
                               x.programs, (long long)x.ranks);
    nsc_explain_by(c, f, NSC_BUILT_WITHOUT_MPI);
    f->confidence = one ? f->confidence : "possible";
}

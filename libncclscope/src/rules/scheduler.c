/* scheduler.c - what schedulers and launchers tell of a whole job: it was never started, lost a node, came to a limit. */
#include "rules/scheduler.h"

/* "ssh: connect to host node-b port 22: Connection refused": nothing ran that could fail. */
void nsc_tell_unreached(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len && !m->comms.len && !nsc_success_of(m); i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_SSH_FAILED && r->number != NCCLSCOPE_KIND_DAEMON_LOST)
            continue;
        if (!f) {
            nsc_text said = nsc_text_trim(r->where.text);
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
            said.len = said.len < 160 ? said.len : 160;
            said.len -= said.len && said.ptr[said.len - 1] == '.';
            f->title = nsc_words(c, "The launcher could not reach a host of the job: %.*s", (int)said.len, said.ptr);
            nsc_explain_by(c, f, NSC_EXIT_UNREACHED);
        }
        f->count++;
        nsc_show(c, f, &r->where);
    }
}

/* Did a process of NCCL's begin behind that line of its input? */
static bool any_began_behind(const struct ncclscope_model *m, const struct nsc_where *line)
{
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_where *first = &m->procs.item[m->proc_order.item[i]].first;
        if (first->source == line->source && first->line > line->line)
            return true;
    }
    return false;
}

/* What mpirun says, short: its help texts are wrapped, and their first line ends anywhere. */
static const char *mpirun_says(struct nsc_case *c, nsc_text reason, bool *program)
{
    static const char *const none[] = {"could not access", "lacked permissions", "unable to find the specified exec"};
    *program = nsc_text_find(reason, "not enough slots") >= 0;
    if (*program)
        return "its hosts have too few slots";
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        *program = *program || nsc_text_find(reason, none[i]) >= 0;
    return *program ? "a node has no program that it may run"
                    : nsc_words(c, "%.*s ...", (int)(reason.len < 120 ? reason.len : 120), reason.ptr);
}

/* "srun: error: Unable to allocate resources: Job violates accounting/QOS policy": nothing ran, or nothing more. Or mpirun says so. */
void nsc_tell_refused(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *by_slurm = nsc_first_heard(m, NCCLSCOPE_KIND_SLURM_REFUSED),
                                *r = by_slurm ? by_slurm : nsc_first_heard(m, NCCLSCOPE_KIND_MPI_REFUSED);
    if (!r)
        return;
    nsc_text reason = nsc_said(m, r, "reason");
    const struct nsc_where *end = nsc_success_of(m);
    bool ended = end && end->source == r->where.source && end->line > r->where.line;
    bool ran = m->comms.len > 0 || ended || m->tests.len, program = false;
    const char *words = by_slurm ? nsc_words(c, "%.*s", (int)(reason.len < 160 ? reason.len : 160), reason.ptr)
                                 : mpirun_says(c, reason, &program);
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    f->count = 1;
    f->title = nsc_words(c, "%s did not start %s: %s", by_slurm ? "Slurm" : "mpirun",
                         !ran       ? "the job's processes"
                         : by_slurm ? "a further step"
                                    : "one of the runs",
                         words);
    nsc_explain_by(c, f, by_slurm ? NSC_EXIT_REFUSED : program ? NSC_EXIT_NOT_LAUNCHED : NSC_EXIT_LAUNCH_FAILED);
    f->severity = ended || any_began_behind(m, &r->where) ? NCCLSCOPE_SEVERITY_NOTE
                  : ran                                   ? NCCLSCOPE_SEVERITY_WARNING
                                                          : f->severity;
    nsc_show(c, f, &r->where);
}

/* "srun: error: Node failure on node-b", "CANCELLED ... DUE TO NODE FAILURE" (which names the node of the batch script). */
static bool tells_node_gone(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_SLURM_NODE_GONE ||
           (r->number == NCCLSCOPE_KIND_SLURM_LIMIT && nsc_text_find(nsc_said(m, r, "reason"), "NODE FAIL") >= 0);
}

bool nsc_tell_node_gone(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (!tells_node_gone(m, r))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
            f->part = NSC_ROOT;
            nsc_explain_by(c, f, NSC_EXIT_NODE_GONE);
        }
        if (r->number == NCCLSCOPE_KIND_SLURM_NODE_GONE)
            nsc_name_host(c, f, nsc_field_of(m, r, "name"));
        f->count++;
        nsc_show(c, f, &r->where);
    }
    if (!f)
        return false;
    f->title = f->hosts.len == 1 ? nsc_words(c, "Slurm lost a node of this job: %s", nsc_say(m, f->hosts.item[0]).ptr)
               : f->hosts.len    ? nsc_words(c, "Slurm lost %zu nodes of this job, first %s", f->hosts.len,
                                             nsc_say(m, f->hosts.item[0]).ptr)
                                 : "Slurm ended the job: one of its nodes failed";
    return true;
}

/* "CANCELLED ... DUE TO TIME LIMIT": no failure of the job's, and often all that its owner wants to know. */
bool nsc_tell_limit(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_SLURM_LIMIT || tells_node_gone(m, r))
            continue;
        if (!f) {
            nsc_text reason = nsc_said(m, r, "reason"), time = nsc_said(m, r, "time"), name = nsc_said(m, r, "name");
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
            static const char before[] = "DUE TO ";
            reason = nsc_text_from(reason, nsc_text_starts(reason, before) ? sizeof before - 1 : 0);
            f->title = nsc_words(c, "Slurm %s %.*s at %.*s%s%.*s", reason.len ? "ended" : "cancelled", (int)name.len,
                                 name.ptr, (int)time.len, time.ptr, reason.len ? ": " : "", (int)reason.len,
                                 reason.len ? reason.ptr : "");
            nsc_explain_by(c, f, reason.len ? NSC_EXIT_LIMIT : NSC_EXIT_CANCELLED);
        }
        f->count++;
        nsc_show(c, f, &r->where);
    }
    return f != NULL;
}

/* "=>> PBS: job killed: walltime 43228 exceeded limit 43200", "TERM_RUNLIMIT: job killed ...": the same in other schedulers' words. */
bool nsc_tell_other_limit(struct nsc_case *c)
{
    const struct nsc_own_record *r = nsc_first_heard(c->m, NCCLSCOPE_KIND_JOB_LIMIT);
    if (!r)
        return false;
    nsc_text text = nsc_text_trim(nsc_said(c->m, r, "text"));
    text.len -= text.len && text.ptr[text.len - 1] == '.';
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
    f->count = 1;
    f->title = nsc_words(c, "The job was ended from outside: %.*s", (int)text.len, text.ptr);
    nsc_explain_by(c, f, NSC_EXIT_LIMIT);
    nsc_show(c, f, &r->where);
    return true;
}

/* "Reason: OOMKilled", "TERM_MEMLIMIT: ...": who is ended so ends without a word of its own, and others see its connections close. */
bool nsc_tell_memory(struct nsc_case *c)
{
    const struct nsc_own_record *r = nsc_first_heard(c->m, NCCLSCOPE_KIND_JOB_MEMORY);
    const struct nsc_where *done = nsc_success_of(c->m);
    if (!r || (done && done->source == r->where.source && done->line > r->where.line))
        return false;
    nsc_text text = nsc_text_trim(nsc_said(c->m, r, "text"));
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    f->count = 1;
    f->title = nsc_words(c, "A process was killed because of its memory use: %.*s", (int)text.len, text.ptr);
    f->part = NSC_ROOT;
    nsc_explain_by(c, f, NSC_EXIT_OUT_OF_MEMORY);
    nsc_show(c, f, &r->where);
    return true;
}

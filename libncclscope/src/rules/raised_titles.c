/* raised_titles.c - exceptions of PyTorch's that are no failure of the program's own: what they mean, in few words. */
#include "rules/raised.h"

enum { SHOWN = 180 };

static int as_shown(nsc_text t)
{
    return (int)(t.len < SHOWN ? t.len : SHOWN);
}

/* What stands between the two, or to the end where the second is not there; len 0: the first is not there. */
static nsc_text between(nsc_text text, const char *before, const char *behind)
{
    ptrdiff_t at = nsc_text_find(text, before);
    if (at < 0)
        return (nsc_text){NULL, 0};
    nsc_text rest = nsc_text_from(text, (size_t)at + strlen(before));
    ptrdiff_t end = nsc_text_find(rest, behind);
    rest.len = end < 0 ? rest.len : (size_t)end;
    return rest;
}

/* "Rank 1", "Ranks 1, 3", "A rank": who raised it, to begin a sentence with. */
static const char *who_raised(struct nsc_case *c, const struct nsc_finding *f)
{
    const char *ranks = f->ranks.len ? nsc_list_ranks(c, f) : NULL;
    bool small = ranks && *ranks == 'r';
    return ranks ? nsc_words(c, "%s%s", small ? "R" : "", ranks + small) : "A rank";
}

/* "[1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error:
 * wait timeout after 12000ms, keys: ..." */
static const char *of_id(struct nsc_case *c, const struct nsc_finding *f, nsc_text name, nsc_text reason)
{
    (void)name;
    nsc_text error = between(reason, "got error: ", ", keys:");
    if (nsc_text_find(reason, "retrieving ncclUniqueId") < 0 || !error.len)
        return NULL;
    ptrdiff_t advice = nsc_text_find(error, ". This may indicate");
    error.len = advice >= 0 ? (size_t)advice : error.len;
    return nsc_words(c, "%s did not get NCCL's start-up id from PyTorch's store: %.*s", who_raised(c, f),
                     as_shown(error), error.ptr);
}

/* "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal SIGKILL": how another process ended. */
static const char *of_spawned(struct nsc_case *c, const struct nsc_finding *f, nsc_text name, nsc_text reason)
{
    (void)f;
    nsc_text end = between(reason, "' died with <Signals.", ">"),
             code = between(reason, "' returned non-zero exit status ", " ");
    code.len -= code.len && code.ptr[code.len - 1] == '.';
    if (nsc_text_find(name, "CalledProcessError") >= 0 &&
        (end.len || code.len)) /* "Command '[...]' died with <Signals.SIGABRT: 6>." */
        return nsc_words(c, "The launcher's command ended %s %.*s", end.len ? "by" : "with exit status",
                         end.len ? as_shown(end) : as_shown(code), end.len ? end.ptr : code.ptr);
    if (nsc_text_find(name, "ProcessExitedException") < 0 || !reason.len)
        return NULL;
    return nsc_words(c, "A process that torch.multiprocessing had started ended: %.*s", as_shown(reason), reason.ptr);
}

/* "Detected mismatch between collectives on ranks. Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=3, OpType=BROADCAST,
 * TensorShape=[64], ...), but Rank 0 is running collective: CollectiveFingerPrint(...).Collectives differ in the following aspects: Op type: ..." */
static const char *of_mismatch(struct nsc_case *c, const struct nsc_finding *f, nsc_text name, nsc_text reason)
{
    (void)f, (void)name;
    nsc_text one = between(reason, "ollectives on ranks. ", ", but Rank "),
             other = between(reason, ", but ", "Collectives differ"),
             aspects = nsc_text_trim(between(reason, "in the following aspects:", "\n"));
    nsc_text rank = between(one, "Rank ", " is running"), rank2 = between(other, "Rank ", " is running"),
             op = between(one, "OpType=", ","), op2 = between(other, "OpType=", ","),
             shape = between(one, "TensorShape=", "]"), shape2 = between(other, "TensorShape=", "]");
    if (!rank.len || !rank2.len || !op.len || !op2.len || rank.len > 9 || rank2.len > 9)
        return NULL;
    bool alike = nsc_text_eq(op, op2) && nsc_text_eq(shape, shape2); /* then in the type, the device, or their order */
    const char *a = shape.len ? nsc_words(c, " of %.*s]", as_shown(shape), shape.ptr) : "",
               *b = shape2.len ? nsc_words(c, " of %.*s]", as_shown(shape2), shape2.ptr) : "",
               *in = alike && aspects.len ? nsc_words(c, ", which differ in %.*s", as_shown(aspects), aspects.ptr) : "";
    return nsc_words(c, "PyTorch's check found ranks in different calls: rank %.*s %.*s%s, rank %.*s %.*s%s%s",
                     (int)rank.len, rank.ptr, as_shown(op), op.ptr, a, (int)rank2.len, rank2.ptr, as_shown(op2),
                     op2.ptr, b, in);
}

/* "torch.distributed.DistStoreError: Timed out after 11 seconds waiting for clients. 1/2 clients joined." */
static const char *of_meeting(struct nsc_case *c, const struct nsc_finding *f, nsc_text name, nsc_text reason)
{
    (void)f, (void)name;
    if (nsc_text_find(reason, "waiting for clients") < 0 || nsc_text_find(reason, "clients joined") < 0)
        return NULL;
    reason.len -= reason.ptr[reason.len - 1] == '.';
    return nsc_words(c, "Not all of PyTorch's processes reached their store: %.*s", as_shown(reason), reason.ptr);
}

/* "[enforce fail at .../gloo/transport/tcp/device.cc:84] ifa != nullptr. Unable to find address for: eth9" */
static const char *of_gloo(struct nsc_case *c, const struct nsc_finding *f, nsc_text name, nsc_text reason)
{
    (void)f, (void)name;
    nsc_text interface = between(reason, "Unable to find address for: ", " ");
    if (nsc_text_find(reason, "gloo/transport") < 0 || !interface.len)
        return NULL;
    return nsc_words(c, "Gloo finds no interface %.*s on this host", as_shown(interface), interface.ptr);
}

/* "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError": torchrun's own, before it starts a process of the program. */
static const char *of_rendezvous(struct nsc_case *c, const struct nsc_finding *f, nsc_text name, nsc_text reason)
{
    (void)f;
    reason.len -= reason.len && reason.ptr[reason.len - 1] == '.';
    if (nsc_text_find(name, "RendezvousTimeoutError") >= 0)
        return "A torchrun launcher gave up: its rendezvous did not complete in time";
    if (nsc_text_find(name, "RendezvousClosedError") >= 0)
        return "A torchrun launcher found its rendezvous closed";
    return nsc_text_find(name, "RendezvousConnectionError") >= 0
               ? nsc_words(c, "A torchrun launcher could not reach its rendezvous%s%.*s", reason.len ? ": " : "",
                           as_shown(reason), reason.len ? reason.ptr : "")
               : NULL;
}

const char *nsc_title_of_raised(struct nsc_case *c, const struct nsc_finding *f, nsc_text name, nsc_text reason)
{
    static const char *(*const known[])(struct nsc_case *, const struct nsc_finding *, nsc_text, nsc_text) = {
        of_id, of_spawned, of_mismatch, of_meeting, of_gloo, of_rendezvous};
    const char *title = NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0] && !title; i++)
        title = known[i](c, f, name, reason);
    return title;
}

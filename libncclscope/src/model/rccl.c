/* rccl.c - records that tell AMD's library from NVIDIA's, where no version line does. */
#include "model/apply.h"

/* "MSCCL: Internal Scheduler will use /usr/share/nccl/msccl-algorithms as algorithm directory": AMD's library has it, and so has Microsoft's own
 * build of NVIDIA's. */
static bool may_be_microsofts(nsc_text message)
{
    return nsc_text_starts(message, "MSCCL: ") && nsc_text_find(message, "rccl/") < 0 &&
           nsc_text_find(message, "rocm") < 0;
}

/* AMD's library prints it and NVIDIA's does not. */
static bool is_rccls_own(ncclscope_kind kind)
{
    return kind == NCCLSCOPE_KIND_RCCL_SYSTEM || kind == NCCLSCOPE_KIND_RCCL_MISSING ||
           kind == NCCLSCOPE_KIND_RCCL_NUMA || kind == NCCLSCOPE_KIND_RCCL_OPTION || kind == NCCLSCOPE_KIND_RCCL_NODE ||
           kind == NCCLSCOPE_KIND_RCCL_DMABUF_OFF;
}

/* "comm 0x7f nRanks 08 busId c000" behind many of its lines, two digits wide; "ncclCommInitRank_impl comm"; "+ XGMI[20.0] - GPU/C3000". */
static bool speaks_as_rccl(nsc_text message, nsc_chars chars)
{
    ptrdiff_t at = nsc_chars_have(chars, "nRanks") ? nsc_text_find_by(message, " nRanks 0", 2) : -1;
    return (at >= 0 && (size_t)at + 9 < message.len && nsc_is_digit(message.ptr[at + 9])) ||
           nsc_text_starts(message, "HIP failure ") ||
           (nsc_chars_have(chars, "librccl-net") && nsc_text_find_by(message, "librccl-net", 2) >= 0) ||
           (nsc_chars_have(chars, "XGMI[") && nsc_text_find_by(message, "+ XGMI[", 2) >= 0) ||
           (nsc_text_starts(message, "nccl") && nsc_text_find(message, "_impl comm ") >= 0);
}

/* "... used 27440 bytes - Init COMPLETE"; "/src/extlibs/rccl/build/hipify/src/graph/paths.cc:82": sources that hipify made. */
static bool is_built_as_rccl(const ncclscope_record *rec)
{
    return (rec->kind == NCCLSCOPE_KIND_INIT_COMPLETE && nsc_text_find(rec->message, " bytes ") >= 0) ||
           (rec->level == NCCLSCOPE_LEVEL_WARN && nsc_text_find(rec->location, "hipify/") >= 0) ||
           (rec->kind == NCCLSCOPE_KIND_BACKTRACE && nsc_text_find(rec->message, "hipify/") >= 0);
}

bool nsc_is_of_rccl(const ncclscope_record *rec)
{
    if (rec->via) /* most lines of a log: by what stands behind the transport */
        return rec->via->comm.len > 0;
    return (is_rccls_own(rec->kind) && !may_be_microsofts(rec->message)) || is_built_as_rccl(rec) ||
           speaks_as_rccl(rec->message, rec->chars);
}

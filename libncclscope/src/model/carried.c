/* carried.c - the head of a saved model, and zlib with a dictionary of what NCCL prints. */
#include "model/carried.h"

#include <string.h>
#include <zlib.h>

static const char magic[8] = "ncscope\2";
enum { MOST_PACKED = 400 }; /* zlib packs rows 60 times, and a bomb a thousand times */

/* A log is mostly made of these: what is saved of a small one would else be larger than the log, packed. */
#define NCCLSCOPE_MSG(number, NAME, template_, example) example "\n"
#define NCCLSCOPE_ALSO(NAME, template_, example)
static const unsigned char dictionary[] =
#include "ncclscope/messages.def"
    " NCCL INFO NCCL WARN NET/IB/0/GDRDMA P2P/CUMEM ";
#undef NCCLSCOPE_MSG
#undef NCCLSCOPE_ALSO

/* Of another release whose rows hold other members. */
static uint32_t layout(void)
{
    uint64_t h = nsc_hash(dictionary, sizeof dictionary);
    for (const struct nsc_member *x = nsc_members; x->type; x++) {
        uint64_t part[4] = {h, nsc_hash(x->type, strlen(x->type)), nsc_hash(x->name, strlen(x->name)), x->kind};
        h = nsc_hash(part, sizeof part);
    }
    return (uint32_t)(h ^ h >> 32);
}

static void put_four(unsigned char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(v >> (8 * i));
}

static uint32_t four_at(const unsigned char *at)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v |= (uint32_t)at[i] << (8 * i);
    return v;
}

static uint32_t sum(const unsigned char *from, size_t len)
{
    return (uint32_t)adler32(1, from, (uInt)len);
}

uint64_t nsc_turned(uint64_t v)
{
    uint64_t turned = 0;
    for (int i = 0; i < 8; i++)
        turned |= (v >> (8 * i) & 255) << (56 - 8 * i);
    return turned;
}

void nsc_carried_head(unsigned char head[NSC_CARRIED_HEAD], const unsigned char *from, size_t len)
{
    memcpy(head, magic, sizeof magic);
    put_four(head + 8, layout());
    put_four(head + 12, (uint32_t)len);
    put_four(head + 16, sum(from, len));
}

int nsc_carried_open(const unsigned char *bytes, size_t size, size_t *length, ncclscope_error *err)
{
    if (!bytes || size < NSC_CARRIED_HEAD || memcmp(bytes, magic, sizeof magic) != 0)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "this is no saved model");
    *length = four_at(bytes + 12);
    if (four_at(bytes + 8) != layout())
        return nsc_fail(err, NCCLSCOPE_EABI, 0, "the model was saved by another release");
    if (*length > (uint64_t)(size - NSC_CARRIED_HEAD) * MOST_PACKED)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "the saved model is damaged");
    return NCCLSCOPE_OK;
}

enum { RAW = -15, MOST_MEMORY = 9 }; /* deflated, without zlib's own head, for ours says as much; 32 KB of window */

size_t nsc_carried_most(size_t len)
{
    return compressBound((uLong)len) + 64;
}

bool nsc_carried_pack(const unsigned char *from, size_t len, unsigned char *to, size_t *size)
{
    z_stream z = {0};
    if (deflateInit2(&z, 9, Z_DEFLATED, RAW, MOST_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    z.next_in = (unsigned char *)(uintptr_t)from;
    z.avail_in = (uInt)len;
    z.next_out = to;
    z.avail_out = (uInt)*size;
    bool fine = len < UINT32_MAX && *size < UINT32_MAX &&
                deflateSetDictionary(&z, dictionary, sizeof dictionary) == Z_OK &&
                deflate(&z, Z_FINISH) == Z_STREAM_END;
    *size = z.total_out;
    deflateEnd(&z);
    return fine;
}

int nsc_carried_unpack(const unsigned char *bytes, size_t size, unsigned char *to, size_t len)
{
    z_stream z = {0};
    if (size >= UINT32_MAX || len >= UINT32_MAX)
        return NCCLSCOPE_EDATA;
    if (inflateInit2(&z, RAW) != Z_OK)
        return NCCLSCOPE_ENOMEM;
    z.next_in = (unsigned char *)(uintptr_t)bytes + NSC_CARRIED_HEAD;
    z.avail_in = (uInt)(size - NSC_CARRIED_HEAD);
    z.next_out = to;
    z.avail_out = (uInt)len;
    int rc = inflateSetDictionary(&z, dictionary, sizeof dictionary);
    if (rc == Z_OK)
        rc = inflate(&z, Z_FINISH);
    bool whole = rc == Z_STREAM_END && z.total_out == len && !z.avail_in && sum(to, len) == four_at(bytes + 16);
    inflateEnd(&z);
    return whole ? NCCLSCOPE_OK : rc == Z_MEM_ERROR ? NCCLSCOPE_ENOMEM : NCCLSCOPE_EDATA;
}

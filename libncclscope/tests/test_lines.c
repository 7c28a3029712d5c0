/* test_lines.c - bytes to lines: whatever the chunks, the same lines. */
#include "check.h"
#include "read/lines.h"

enum { MOST = 64 };

struct seen {
    size_t lines;
    struct one {
        char text[80];
        size_t len;
        uint64_t number, offset;
        bool cut, unended, more;
    } line[MOST];
};

static void note(struct seen *s, const struct nsc_line *l)
{
    struct one *x = &s->line[s->lines++ % MOST];
    *x = (struct one){.len = l->text.len,
                      .number = l->number,
                      .offset = l->offset,
                      .cut = l->cut,
                      .unended = l->unended,
                      .more = !l->lines};
    memcpy(x->text, l->text.ptr, l->text.len < sizeof x->text ? l->text.len : sizeof x->text);
}

static void give(struct nsc_lines *l, nsc_text bytes, struct seen *s)
{
    struct nsc_line line;
    char *to = nsc_lines_room(l, bytes.len);
    if (bytes.len)
        memcpy(to, bytes.ptr, bytes.len);
    nsc_lines_filled(l, bytes.len);
    while (nsc_lines_next(l, &line))
        note(s, &line);
}

static void end(struct nsc_lines *l, struct seen *s)
{
    struct nsc_line line;
    l->finished = true;
    while (nsc_lines_next(l, &line))
        note(s, &line);
    CHECK(!nsc_lines_next(l, &line));
    nsc_lines_free(l);
}

static void whole(nsc_text bytes, struct seen *s)
{
    struct nsc_lines l = {0};
    memset(s, 0, sizeof *s);
    give(&l, bytes, s);
    end(&l, s);
}

static nsc_text text_of(const struct seen *s, size_t i)
{
    return (nsc_text){s->line[i].text, s->line[i].len};
}

static void test_kinds_of_lines(void)
{
    static struct seen s;
    whole(NSC_TEXT("one\ntwo\r\n\n\r\nfi\rve\nsix \0\nlast"), &s);
    CHECK_INT(s.lines, 7);
    CHECK_TEXT(text_of(&s, 0), "one");
    CHECK_TEXT(text_of(&s, 1), "two");
    CHECK_TEXT(text_of(&s, 2), "");
    CHECK_TEXT(text_of(&s, 3), "");
    CHECK_TEXT(text_of(&s, 4), "fi\rve"); /* a CR inside a line does not end it */
    CHECK(nsc_text_eq(text_of(&s, 5), NSC_TEXT("six \0")));
    CHECK_TEXT(text_of(&s, 6), "last");
    CHECK(s.line[6].unended && !s.line[5].unended);
    CHECK_INT(s.line[1].offset, 4);
    CHECK_INT(s.line[6].offset, 24);
    CHECK_INT(s.line[6].number, 7);
}

static void test_ends(void)
{
    static struct seen s;
    whole(NSC_TEXT(""), &s);
    CHECK_INT(s.lines, 0);
    whole(NSC_TEXT("\n"), &s);
    CHECK_INT(s.lines, 1);
    whole(NSC_TEXT("a\n"), &s);
    CHECK_INT(s.lines, 1);
    CHECK(!s.line[0].unended);
    whole(NSC_TEXT("a\r"), &s);
    CHECK_INT(s.lines, 1);
    CHECK_TEXT(text_of(&s, 0), "a");
}

static void test_every_chunking(void)
{
    static const char bytes[] = "ab\r\n\ncd\r\r\n\0e\nf";
    static struct seen should, is;
    nsc_text all = {bytes, sizeof bytes - 1};
    whole(all, &should);
    bool same = true;
    for (unsigned cuts = 0; cuts < 1u << (all.len - 1); cuts++) { /* bit i: a cut behind byte i */
        struct nsc_lines l = {0};
        memset(&is, 0, sizeof is);
        size_t from = 0;
        for (size_t i = 0; i < all.len; i++) {
            if (i + 1 < all.len && !(cuts >> i & 1))
                continue;
            give(&l, (nsc_text){all.ptr + from, i + 1 - from}, &is);
            from = i + 1;
        }
        end(&l, &is);
        same = same && memcmp(&is, &should, sizeof is) == 0;
    }
    CHECK(same);
}

/* A line of `len` bytes in chunks of `chunk`, between two short ones. */
static void read_long(size_t len, size_t chunk, bool ended, struct seen *s)
{
    struct nsc_lines l = {0};
    char *bytes = malloc(len + 16);
    memset(s, 0, sizeof *s);
    memcpy(bytes, "first\n", 6);
    memset(bytes + 6, 'x', len);
    memcpy(bytes + 6 + len, "\nlast\n", 6);
    size_t all = ended ? len + 12 : len + 6;
    for (size_t at = 0; at < all; at += chunk)
        give(&l, (nsc_text){bytes + at, all - at < chunk ? all - at : chunk}, s);
    end(&l, s);
    free(bytes);
}

static void test_limit(void)
{
    static struct seen s;
    const size_t chunks[] = {1000, 4096, 65536, 65537, 1 << 20};
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        read_long(NSC_LINE_LIMIT, chunks[i], true, &s);
        CHECK(!s.line[1].cut);
        CHECK_INT(s.line[1].len, NSC_LINE_LIMIT);
        read_long(NSC_LINE_LIMIT + 1, chunks[i], true, &s);
        CHECK_INT(s.lines, 4);
        CHECK(s.line[1].cut && !s.line[2].cut && !s.line[1].more && s.line[2].more);
        CHECK_INT(s.line[1].len, NSC_LINE_LIMIT);
        CHECK_INT(s.line[2].len, 1);
        CHECK_INT(s.line[2].offset, 6 + NSC_LINE_LIMIT);
        CHECK_INT(s.line[2].number, 2);
        CHECK_INT(s.line[3].offset, 6 + NSC_LINE_LIMIT + 1 + 1);
        CHECK_INT(s.line[3].number, 3);
        CHECK(!s.line[3].cut && !s.line[3].more);
        read_long(1000000, chunks[i], true, &s);
        size_t pieces = 1000000 / NSC_LINE_LIMIT + 1;
        CHECK_INT(s.lines, pieces + 2);
        CHECK_INT(s.line[pieces + 1].offset, 1000007);
        CHECK_TEXT(text_of(&s, pieces + 1), "last");
        read_long(1000000, chunks[i], false, &s);
        CHECK_INT(s.lines, pieces + 1);
        CHECK(s.line[pieces].more && s.line[pieces].unended);
    }
}

/* A line of `before` bytes of `fill`, `text`, and `behind` bytes of fill. */
static void read_around(char fill, size_t before, const char *text, size_t behind, size_t chunk, struct seen *s)
{
    size_t len = strlen(text), all = before + len + behind + 1;
    char *bytes = malloc(all);
    struct nsc_lines l = {0};
    memset(bytes, fill, all);
    memcpy(bytes + before, text, len);
    bytes[all - 1] = '\n';
    memset(s, 0, sizeof *s);
    for (size_t at = 0; at < all; at += chunk)
        give(&l, (nsc_text){bytes + at, all - at < chunk ? all - at : chunk}, s);
    end(&l, s);
    free(bytes);
}

/* A progress bar of megabytes ends in a record; a dump of bytes holds one. Neither the bar nor the limit takes it. */
static void test_pieces(void)
{
    static struct seen s;
    const size_t chunks[] = {777, 65536, 1 << 20};
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        read_around('x', 65530, "\rvm:1:2 [0] NCCL INFO x", 0, chunks[i], &s);
        CHECK_TEXT(text_of(&s, s.lines - 1), "vm:1:2 [0] NCCL INFO x");
        CHECK(!s.line[s.lines - 1].cut);
        CHECK_INT(s.line[s.lines - 1].number, 1);
        read_around('x', 65500, " vm:1:2 [0] init.cc:7 NCCL WARN torn where the limit is", 70000, chunks[i], &s);
        CHECK_INT(s.line[0].len, 65501);
        CHECK_TEXT(((nsc_text){s.line[1].text, 34}), "vm:1:2 [0] init.cc:7 NCCL WARN tor");
    }
}

/* What begins as JSON does is one line, however long; what begins as a launcher's rank is not taken for that. */
static void test_documents(void)
{
    static struct seen s;
    static const char *const documents[] = {"{\"", "[{\"", "[[\"", "[ \"", "{ \"", "\xef\xbb\xbf[\""},
                             *const others[] = {"[1,0]<stdout>:", "[[344,1],1]", "{x", "[0] x", "[default0]:"};
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        read_around('x', 0, documents[i], 300000, 65536, &s);
        CHECK_INT(s.lines, 1);
        CHECK(!s.line[0].cut);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        read_around('x', 0, others[i], 300000, 65536, &s);
        CHECK_INT(s.lines, 5);
    }
}

/* However long the line is, no more than it may keep is kept in memory. */
static void test_memory(void)
{
    struct nsc_lines l = {0};
    static struct seen s;
    static char bytes[65536];
    memset(bytes, 'x', sizeof bytes);
    memset(&s, 0, sizeof s);
    for (int i = 0; i < 500; i++)
        give(&l, (nsc_text){bytes, sizeof bytes}, &s);
    CHECK(l.cap <= 4 * NSC_LINE_LIMIT);
    end(&l, &s);
    CHECK_INT(s.lines, 500);
}

CHECKS(TEST(test_kinds_of_lines), TEST(test_ends), TEST(test_every_chunking), TEST(test_limit), TEST(test_pieces),
       TEST(test_documents), TEST(test_memory))

/* test_grammar.c - every row of messages.def by its example: through the index, and by trying all rows in order. */
#include "check.h"
#include "read/grammar.h"
#include "read/texts.h"

static ncclscope_grammar *grammar;
static struct nsc_match match;
static struct nsc_first_words words;

/* The row's template with an expression that takes nothing behind it: PCRE2 matches it, as it does all that have one. */
struct slow {
    struct nsc_pattern pattern;
    char *template_;
};

static void init_slow(struct slow *s, const char *template_)
{
    static const char nothing[] = "{:/(?:)/}";
    size_t n = strlen(template_);
    s->template_ = malloc(n + sizeof nothing);
    memcpy(s->template_, template_, n);
    memcpy(s->template_ + n, nothing, sizeof nothing);
    nsc_pattern_init(&s->pattern, s->template_, false);
}

static void free_slow(struct slow *s)
{
    nsc_pattern_free(&s->pattern);
    free(s->template_);
}

static struct slow *slow_rows; /* of the messages */

static void open_grammar(void)
{
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), NCCLSCOPE_OK);
    CHECK_INT(nsc_match_new(&match, NULL), NCCLSCOPE_OK);
    slow_rows = calloc(grammar->messages.rows, sizeof *slow_rows);
    for (size_t i = 0; i < grammar->messages.rows; i++)
        init_slow(&slow_rows[i], grammar->messages.row[i].pattern.template_);
}

static void close_grammar(void)
{
    for (size_t i = 0; i < grammar->messages.rows; i++)
        free_slow(&slow_rows[i]);
    free(slow_rows);
    nsc_match_free(&match);
    ncclscope_grammar_free(grammar);
    ncclscope_grammar_free(NULL);
}

/* The slow truth: the first row that PCRE2 says takes it. */
static const struct nsc_row *first_of_all(nsc_text message)
{
    for (size_t i = 0; i < grammar->messages.rows; i++)
        if (nsc_pattern_match(&slow_rows[i].pattern, &grammar->lock, message, &match))
            return &grammar->messages.row[i];
    return NULL;
}

static void test_every_row_compiles(void)
{
    open_grammar();
    CHECK(grammar->messages.rows > 500);
    for (size_t i = 0; i < grammar->messages.rows; i++) {
        ncclscope_error err = {0};
        if (nsc_pattern_check(&grammar->messages.row[i].pattern, &grammar->lock, &err))
            printf("%s\n", err.text);
        CHECK_INT(err.code, 0);
    }
}

static void test_every_example(void)
{
    for (size_t i = 0; i < grammar->messages.rows; i++) {
        const struct nsc_row *own = &grammar->messages.row[i];
        nsc_text example = nsc_text_of(own->example);
        const struct nsc_row *slow = first_of_all(example),
                             *fast = nsc_grammar_match(grammar, NULL, example, 0, &match);
        const struct nsc_row *learnt = nsc_grammar_match(grammar, &words, example, 0, &match);
        const struct nsc_row *known = nsc_grammar_match(grammar, &words, example, 0, &match);
        if (!slow || slow->kind != own->kind || fast != slow || learnt != slow || known != slow)
            printf("%s is %s, by the index %s\n", own->example, slow ? ncclscope_kind_name(slow->kind) : "nothing",
                   fast ? ncclscope_kind_name(fast->kind) : "nothing");
        CHECK(slow && slow->kind == own->kind);
        CHECK(fast == slow && learnt == slow && known == slow);
        CHECK(nsc_pattern_match(&grammar->messages.row[i].pattern, &grammar->lock, example,
                                &match)); /* and its own row takes it */
    }
}

/* The index loses nothing: parts and mixtures of examples match as they do without it. */
static void test_index_is_only_faster(void)
{
    char text[1200];
    unsigned seed = 7;
    for (size_t i = 0; i < grammar->messages.rows * 6; i++) {
        const char *a = grammar->messages.row[i % grammar->messages.rows].example,
                   *b = grammar->messages.row[(i * 7919 + 13) % grammar->messages.rows].example;
        seed = seed * 1103515245 + 12345;
        size_t cut = (seed >> 8) % (strlen(a) + 1);
        if (i % 3 == 0)
            snprintf(text, sizeof text, "%.*s", (int)cut, a);
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "%.*s%s", (int)cut, a, b);
        else
            snprintf(text, sizeof text, "%s %s", a, b);
        nsc_text t = nsc_text_of(text);
        const struct nsc_row *slow = first_of_all(t);
        bool same = nsc_grammar_match(grammar, &words, t, 0, &match) == slow &&
                    nsc_grammar_match(grammar, NULL, t, 0, &match) == slow;
        if (!same)
            printf("%s\n", text);
        CHECK(same);
    }
}

/* A walk finds what PCRE2 finds, in the same places. */
static bool walks_alike(struct nsc_row *row, struct slow *slow, nsc_text text)
{
    static struct nsc_match other;
    if (!other.data)
        nsc_match_new(&other, NULL);
    bool by_walk = nsc_pattern_match(&row->pattern, &grammar->lock, text, &match),
         same = nsc_pattern_match(&slow->pattern, &grammar->lock, text, &other) == by_walk;
    for (size_t i = 0; same && by_walk; i++) {
        ncclscope_field a, b;
        nsc_text x, y;
        bool more = nsc_match_field(&match, i, &a, &x);
        same = nsc_match_field(&other, i, &b, &y) == more && (!more || (a == b && x.ptr == y.ptr && x.len == y.len));
        if (!more)
            break;
    }
    if (!same)
        printf("%s\n%.*s\n", row->pattern.template_, (int)text.len, text.ptr);
    return same;
}

/* What a field of this type may hold, now this, now that, and now what it may not. */
static const char *sample(char type, unsigned n)
{
    static const char types[] = "uixpfwtbv";
    static const char *const values[][6] = {
        {"0", "12", "4294967295", "7", "", "-1"},
        {"-3", "5", "-", "1048576", "0", ""},
        {"a0", "FF", "c41000", "0", "g", ""},
        {"0x7f12ab", "(nil)", "7f12ab", "0x", "7f12a", "0xg"},
        {"1.5", "-2", "1e+06", "inf", "-nan", "1."},
        {"eth0", "a:b", "x", "-", "", "two words"},
        {"any text", "", "a -> b : c, 3", "x x x", "(y) [z] {w}", ":"},
        {"0000:07:00.0", "c1:00.0", "1b", ":", "", "g"},
        {"2.18.3", "2.30", "2.", "2.18.3+cuda12.2", "v2.1", "10.1.2.3"},
    };
    const char *at = strchr(types, type);
    return at ? values[at - types][n % 6] : "?";
}

/* A text that is, or is nearly, of this template. */
static size_t fill(char *out, size_t size, const char *t, unsigned *seed)
{
    size_t n = 0;
    while (*t && n + 1 < size) {
        const char *colon = *t == '{' && t[1] != '{' ? strchr(t, ':') : NULL;
        *seed = *seed * 1103515245 + 12345;
        if (colon && colon[1] && colon[2] == '}') {
            n += (size_t)snprintf(out + n, size - n, "%s",
                                  sample(colon[1], (*seed >> 16) % 24 < 6 ? *seed >> 24 : *seed >> 30));
            n = n < size ? n : size - 1;
            t = colon + 3;
        } else if ((*seed >> 16) % 200) {
            out[n++] = *t++;
        } else {
            t++;
        }
    }
    return n;
}

static void test_walks(void)
{
    enum { EACH = 12 };
    struct nsc_texts *texts = nsc_texts_of(grammar);
    struct nsc_index *tables[] = {&grammar->messages, &grammar->others, &texts->index};
    char text[1200];
    unsigned seed = 11, tried = 0, taken = 0;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < tables[k]->rows; i++) {
            struct nsc_row *row = &tables[k]->row[i];
            struct slow slow;
            if (strstr(row->pattern.template_, ":/"))
                continue;
            init_slow(&slow, row->pattern.template_);
            for (int n = 0; n < EACH; n++, tried++) {
                nsc_text t = {text, fill(text, sizeof text, row->pattern.template_, &seed)};
                CHECK(walks_alike(row, &slow, t));
                taken += nsc_pattern_match(&row->pattern, &grammar->lock, t, &match);
            }
            free_slow(&slow);
        }
    CHECK(tried > 10000 && taken > tried / 4 && taken < tried);
}

static void test_nothing(void)
{
    static const char *const foreign[] = {"",         " ", "x",   "Hello world", "Channe", "step 5 loss 3.2",
                                          "\xff\xfe", "9", "NCCL"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        const struct nsc_row *row = nsc_grammar_match(grammar, NULL, nsc_text_of(foreign[i]), 0, &match);
        if (row)
            printf("'%s' is %s\n", foreign[i], ncclscope_kind_name(row->kind));
        CHECK(!row);
    }
}

/* A record that ends behind a field that says what it takes can be told to be cut; a whole one never is. */
static void test_cut(void)
{
    static const char init[] =
        "ncclCommInitRank comm 0x2cd76f30 rank 6 nranks 8 cudaDev 6 nvmlDev 6 busId c0 commId 0xca3e - Init COMPLETE";
    CHECK(nsc_grammar_is_cut(grammar, NSC_TEXT("comm 0x2cd76f30 rank 6 nranks 8 cudaD"), &match));
    CHECK(nsc_grammar_is_cut(grammar, NSC_TEXT("Connected all tr"), &match));
    CHECK(!nsc_grammar_is_cut(grammar, NSC_TEXT("Something new that nobody knows"), &match));
    CHECK(nsc_grammar_match(grammar, NULL, nsc_text_of(init), 0, &match) != NULL);
}

static void test_names(void)
{
    CHECK(!strcmp(ncclscope_kind_name(NCCLSCOPE_KIND_CONNECT), "CONNECT"));
    CHECK(!strcmp(ncclscope_kind_name(NCCLSCOPE_KIND_UNKNOWN), "UNKNOWN"));
    CHECK(!strcmp(ncclscope_kind_name(NCCLSCOPE_KIND_MATRIX_ROW), "MATRIX_ROW"));
    CHECK(ncclscope_kind_name((ncclscope_kind)9999) == NULL);
    CHECK(!strcmp(ncclscope_field_name(NCCLSCOPE_FIELD_SRC), "src"));
    CHECK(ncclscope_field_name(NCCLSCOPE_FIELD_NONE) == NULL);
    CHECK(nsc_field_by_name(NSC_TEXT("src")) == NCCLSCOPE_FIELD_SRC);
    CHECK(nsc_field_by_name(NSC_TEXT("nosuch")) == NCCLSCOPE_FIELD_NONE);
    for (size_t i = 0; i < grammar->messages.rows; i++)
        CHECK(ncclscope_kind_name(grammar->messages.row[i].kind) != NULL);
}

static int add_row(const char *name, const char *template_)
{
    return ncclscope_grammar_add(grammar, name, template_, NULL);
}

/* Rows of a user take what no built-in row takes; a wrong one adds nothing. */
static void test_added_rows(void)
{
    static const char lanes[] = "FABRIC/Lanes : 4 lanes in 2 groups",
                      connect[] = "Channel 00/0 : 3[3] -> 2[2] via P2P/CUMEM";
    char type = 0;
    CHECK_INT(add_row("lanes", "FABRIC/Lanes : {lanes:u} lanes in {count:u} groups"), NCCLSCOPE_OK);
    CHECK_INT(add_row("any_connection", "Channel {a:t}"), NCCLSCOPE_OK);
    CHECK_INT(add_row("socket_thing", "NET/Socket: Frobbed {lanes:u} times"), NCCLSCOPE_OK);
    CHECK_INT(add_row("lanes", "again"), NCCLSCOPE_EINVAL);
    CHECK_INT(add_row("Lanes", "x"), NCCLSCOPE_EINVAL);
    CHECK_INT(add_row("laNes", "x"), NCCLSCOPE_EINVAL);
    CHECK_INT(add_row("la-nes", "x"), NCCLSCOPE_EINVAL);
    CHECK_INT(add_row("a", "{lanes:t} other type"), NCCLSCOPE_EPATTERN);
    CHECK_INT(add_row("a", "{rank:t} holds a number"), NCCLSCOPE_EPATTERN);
    CHECK_INT(add_row("a", "{x"), NCCLSCOPE_EPATTERN);
    CHECK_INT(add_row("a", "{:t}"), NCCLSCOPE_EPATTERN);
    CHECK_INT((int)grammar->user.rows.len, 3);
    const struct nsc_row *row = nsc_grammar_match(grammar, NULL, nsc_text_of(lanes), 0, &match);
    CHECK(row && (int)row->kind == NSC_USER_FIRST);
    CHECK(row && !strcmp(nsc_user_kind_name(&grammar->user, row->kind), "lanes"));
    CHECK(!strcmp(nsc_user_field_name(&grammar->user, (ncclscope_field)NSC_USER_FIRST, &type), "lanes") && type == 'u');
    CHECK(!strcmp(nsc_user_field_name(&grammar->user, NCCLSCOPE_FIELD_COUNT, &type), "count") && type == 'i');
    row = nsc_grammar_match(grammar, &words, nsc_text_of(connect), 0, &match);
    CHECK(row && row->kind == NCCLSCOPE_KIND_CONNECT);
    row = nsc_grammar_match(grammar, &words, NSC_TEXT("NET/Socket: Frobbed 3 times"), 0, &match);
    CHECK(row && (int)row->kind == NSC_USER_FIRST + 2);
    row = nsc_grammar_match(grammar, &words, NSC_TEXT("NET/Socket: Frobbed often"), 0, &match);
    CHECK(row && row->kind == NCCLSCOPE_KIND_SOCKET_CHATTER);
    close_grammar();
}

/* A text has the characters of its parts, of every length; letters and marks are told apart, and what is odd is not. */
static void test_chars(void)
{
    static const char text[] = "Channel 00/0 : 0[6] -> 1[7] via P2P/CUMEM#\x1b(quoted \"y\")";
    for (size_t from = 0; from < sizeof text - 1; from++)
        for (size_t to = from; to < sizeof text; to++) {
            nsc_chars all = 0;
            for (size_t i = from; i < to; i++)
                all |= nsc_char_bits[(unsigned char)text[i]];
            CHECK(nsc_chars_of((nsc_text){text + from, to - from}) == all);
        }
    CHECK(nsc_chars_have(nsc_chars_of(NSC_TEXT("NET/IB : no CL")), "NCL"));
    CHECK(!nsc_chars_have(nsc_chars_of(NSC_TEXT("NET/IB : no cL")), "NCL"));
    CHECK(nsc_chars_have(0, "") && nsc_chars_have(0, " 01."));
    for (int c = 0; c < 256; c++) {
        bool odd = c < 32 || c > 126 || strchr("\"#&\\`|", c);
        CHECK(!!(nsc_char_bits[c] & NSC_ODD) == odd);
        for (int d = 'a'; d <= 'z'; d++)
            CHECK(c == d || (c | 0x20) == d || !(nsc_char_bits[c] & nsc_char_bits[d]));
    }
}

CHECKS(TEST(test_chars), TEST(test_every_row_compiles), TEST(test_every_example), TEST(test_index_is_only_faster),
       TEST(test_walks), TEST(test_nothing), TEST(test_cut), TEST(test_names), TEST(test_added_rows))

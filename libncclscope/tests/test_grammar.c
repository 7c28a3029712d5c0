/* test_grammar.c - every row of messages.def by its example: through the index, and by trying all rows in order. */
#include "check.h"
#include "read/grammar.h"

static ncclscope_grammar *grammar;
static struct nsc_match match;
static struct nsc_first_words words;

static void open_grammar(void)
{
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), NCCLSCOPE_OK);
    CHECK_INT(nsc_match_new(&match, NULL), NCCLSCOPE_OK);
}

static void close_grammar(void)
{
    nsc_match_free(&match);
    ncclscope_grammar_free(grammar);
    ncclscope_grammar_free(NULL);
}

/* The slow truth: the first row that matches. */
static const struct nsc_row *first_of_all(nsc_text message)
{
    for (size_t i = 0; i < grammar->messages.rows; i++)
        if (nsc_pattern_match(&grammar->messages.row[i].pattern, &grammar->lock, message, &match))
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
        const struct nsc_row *slow = first_of_all(example), *fast = nsc_grammar_match(grammar, NULL, example, &match);
        const struct nsc_row *learnt = nsc_grammar_match(grammar, &words, example, &match);
        const struct nsc_row *known = nsc_grammar_match(grammar, &words, example, &match);
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
        bool same = nsc_grammar_match(grammar, &words, t, &match) == slow &&
                    nsc_grammar_match(grammar, NULL, t, &match) == slow;
        if (!same)
            printf("%s\n", text);
        CHECK(same);
    }
}

static void test_nothing(void)
{
    static const char *const foreign[] = {"",         " ", "x",   "Hello world", "Channe", "step 5 loss 3.2",
                                          "\xff\xfe", "9", "NCCL"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        const struct nsc_row *row = nsc_grammar_match(grammar, NULL, nsc_text_of(foreign[i]), &match);
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
    CHECK(nsc_grammar_match(grammar, NULL, nsc_text_of(init), &match) != NULL);
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
    const struct nsc_row *row = nsc_grammar_match(grammar, NULL, nsc_text_of(lanes), &match);
    CHECK(row && (int)row->kind == NSC_USER_FIRST);
    CHECK(row && !strcmp(nsc_user_kind_name(&grammar->user, row->kind), "lanes"));
    CHECK(!strcmp(nsc_user_field_name(&grammar->user, (ncclscope_field)NSC_USER_FIRST, &type), "lanes") && type == 'u');
    CHECK(!strcmp(nsc_user_field_name(&grammar->user, NCCLSCOPE_FIELD_COUNT, &type), "count") && type == 'i');
    row = nsc_grammar_match(grammar, &words, nsc_text_of(connect), &match);
    CHECK(row && row->kind == NCCLSCOPE_KIND_CONNECT);
    row = nsc_grammar_match(grammar, &words, NSC_TEXT("NET/Socket: Frobbed 3 times"), &match);
    CHECK(row && (int)row->kind == NSC_USER_FIRST + 2);
    row = nsc_grammar_match(grammar, &words, NSC_TEXT("NET/Socket: Frobbed often"), &match);
    CHECK(row && row->kind == NCCLSCOPE_KIND_SOCKET_CHATTER);
    close_grammar();
}

CHECKS(TEST(test_every_row_compiles), TEST(test_every_example), TEST(test_index_is_only_faster), TEST(test_nothing),
       TEST(test_cut), TEST(test_names), TEST(test_added_rows))

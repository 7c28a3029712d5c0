/* test_row.c - "  1048576  262144  float  sum  -1  20.21  51.88  77.82  0  19.9 ...": a row of nccl-tests. */
#include "read/test_row.h"

static size_t count_words(nsc_text t)
{
    size_t n = 0;
    while (nsc_next_word(&t).len)
        n++;
    return n;
}

/* Sizes, a type, an operation, a root, numbers. */
size_t nsc_test_columns(nsc_text row)
{
    uint64_t n;
    double f;
    size_t words = count_words(row), before = words >= 11 && words <= 13 ? words - 8
                                              : words >= 7 && words <= 9 ? words - 4
                                                                         : 0;
    if (!before || !nsc_to_u64(nsc_next_word(&row), &n) || !nsc_to_u64(nsc_next_word(&row), &n))
        return 0;
    nsc_text type = nsc_next_word(&row);
    for (size_t i = 3; i < before; i++)
        nsc_next_word(&row);
    bool figures = true;
    for (size_t i = 0; i < 3; i++)
        figures = figures && nsc_to_f64(nsc_next_word(&row), &f) && f >= 0; /* -1 is a root: a row without its end */
    return figures && !nsc_is_digit(type.ptr[0]) ? before : 0;
}

static bool is_type(nsc_text word)
{
    static const char *const types[] = {"int8",  "uint8",  "int32",    "uint32", "int64",  "uint64",   "half",
                                        "float", "double", "bfloat16", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (nsc_text_is(word, types[i]))
            return true;
    return false;
}

/* "  64   16   float   sum   -1": of what stands behind the type a host's name may have taken the end. */
static bool begins_row(nsc_text piece)
{
    uint64_t n;
    bool sizes = nsc_to_u64(nsc_next_word(&piece), &n) && nsc_to_u64(nsc_next_word(&piece), &n);
    return sizes && is_type(nsc_next_word(&piece));
}

/* "   86.86    0.00    0.00    N/A": how many, else 0. */
static size_t count_figures(nsc_text piece)
{
    double f;
    nsc_text word;
    size_t n = 0;
    while ((word = nsc_next_word(&piece)).len && (nsc_to_f64(word, &f) || (n % 4 == 3 && nsc_text_is(word, "N/A"))))
        n++;
    return !word.len && n >= 3 && n <= 8 ? n : 0;
}

bool nsc_test_row_piece(struct nsc_test_row *row, nsc_text piece)
{
    piece = nsc_text_trim(piece);
    if (piece.len && piece.ptr[0] == '[') /* what a program puts before its own lines: "[STAT]:" */
        nsc_next_word(&piece);
    bool begins = begins_row(piece);
    size_t figures = begins || !row->len ? 0 : count_figures(piece);
    if (!begins && !figures)
        return false;
    row->len = begins ? 0 : row->len;
    if (row->len + piece.len + sizeof " N/A " > sizeof row->text)
        return row->len = 0, false;
    memcpy(row->text + row->len, piece.ptr, piece.len);
    row->len += piece.len;
    for (const char *c = figures == 3 ? " N/A " : " "; *c;
         c++) /* "0vm:7:9": the errors became a part of the host's name */
        row->text[row->len++] = *c;
    return true;
}

nsc_text nsc_test_row_whole(struct nsc_test_row *row, nsc_text piece)
{
    nsc_text all = {row->text, 0};
    if (row->len && count_figures(piece) && nsc_test_row_piece(row, piece)) {
        all.len = nsc_test_columns((nsc_text){row->text, row->len}) ? row->len : 0;
        row->len = 0;
    }
    return nsc_text_trim_end(all);
}

/* test_containers.c - arena, intern, map, vec. */
#include "base/intern.h"
#include "base/map.h"
#include "check.h"

static void test_arena(void)
{
    struct nsc_arena a = {0};
    char *small[1000];
    bool zeroed = true, aligned = true, kept = true;
    for (int i = 0; i < 1000; i++) {
        size_t size = (size_t)(i * 37 % 300 + 1);
        small[i] = nsc_arena_alloc(&a, size);
        for (size_t k = 0; k < size; k++)
            zeroed = zeroed && !small[i][k];
        aligned = aligned && ((uintptr_t)small[i] & 15) == 0;
        memset(small[i], i & 0x7f, size);
    }
    char *large = nsc_arena_alloc(&a, 3000000);
    memset(large, 1, 3000000);
    for (int i = 0; i < 1000; i++)
        for (size_t k = 0; k < (size_t)(i * 37 % 300 + 1); k++)
            kept = kept && small[i][k] == (i & 0x7f);
    CHECK(zeroed);
    CHECK(aligned);
    CHECK(kept);
    nsc_text copy = nsc_arena_copy(&a, NSC_TEXT("abc"));
    CHECK_TEXT(copy, "abc");
    CHECK(copy.ptr[3] == 0);
    copy = nsc_arena_copy(&a, (nsc_text){NULL, 0});
    CHECK(copy.ptr && copy.len == 0 && copy.ptr[0] == 0);
    nsc_arena_free(&a);
    nsc_arena_free(&a);
}

static void test_intern(void)
{
    struct nsc_intern in = {0};
    char name[32];
    uint32_t id[2000];
    bool same = true, right = true;
    CHECK_INT(nsc_intern(&in, NSC_TEXT("")), 0);
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "NCCL_%d", i);
        id[i] = nsc_intern(&in, nsc_text_of(name));
    }
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "NCCL_%d", i);
        same = same && id[i] && nsc_intern(&in, nsc_text_of(name)) == id[i];
        right = right && nsc_text_is(nsc_interned(&in, id[i]), name) && nsc_interned(&in, id[i]).ptr[strlen(name)] == 0;
    }
    CHECK(same);
    CHECK(right);
    CHECK_INT(nsc_intern(&in, NSC_TEXT("NCCL_2000")), id[1999] + 1);
    CHECK(nsc_intern(&in, NSC_TEXT("a\0b")) != nsc_intern(&in, NSC_TEXT("a\0c")));
    CHECK_TEXT(nsc_interned(&in, 0), "");
    CHECK_TEXT(nsc_interned(&in, 1u << 30), "");
    nsc_intern_free(&in);
}

static struct nsc_key key(uint64_t i)
{
    return (struct nsc_key){i % 13, i * 0x9e3779b97f4a7c15u, i / 7};
}

static void test_map(void)
{
    struct nsc_map m = {0};
    bool right = true;
    CHECK(nsc_map_get(&m, key(1)) == NSC_NONE);
    for (uint32_t i = 0; i < 5000; i++)
        CHECK_INT(nsc_map_put(&m, key(i), i), NCCLSCOPE_OK);
    for (uint32_t i = 0; i < 5000; i++)
        right = right && nsc_map_get(&m, key(i)) == i;
    CHECK(right);
    CHECK(nsc_map_get(&m, key(5000)) == NSC_NONE);
    CHECK_INT(m.used, 5000);
    nsc_map_put(&m, key(17), 99);
    CHECK_INT(nsc_map_get(&m, key(17)), 99);
    CHECK_INT(m.used, 5000);
    /* keys that differ in one word only are different things */
    CHECK(nsc_map_get(&m, (struct nsc_key){key(17).a, key(17).b, key(17).c + 1}) == NSC_NONE);
    nsc_map_free(&m);
    CHECK(nsc_map_get(&m, key(1)) == NSC_NONE);
}

static void test_vec(void)
{
    NSC_VEC(uint64_t) v = {0};
    bool zeroed = true, right = true;
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t *x = nsc_vec_push(&v);
        zeroed = zeroed && *x == 0;
        *x = i * i;
    }
    for (uint64_t i = 0; i < 3000; i++)
        right = right && v.item[i] == i * i;
    CHECK_INT(v.len, 3000);
    CHECK(zeroed);
    CHECK(right);
    nsc_vec_free(&v);
    CHECK(!v.item && !v.len && !v.cap);
    v.len = v.cap = 0;
    *nsc_vec_push(&v) = 5;
    v.len = 0;
    CHECK_INT(*nsc_vec_push(&v), 0); /* a place that was used is zeroed again */
    nsc_vec_free(&v);
}

static void test_grow_too_far(void)
{
    size_t cap = 0;
    CHECK(nsc_grow(NULL, &cap, SIZE_MAX / 2, 16) == NULL);
    CHECK_INT(cap, 0);
}

CHECKS(TEST(test_arena), TEST(test_intern), TEST(test_map), TEST(test_vec), TEST(test_grow_too_far))

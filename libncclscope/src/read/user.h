/* user.h - rows that a user adds to a grammar, for lines of private plugins: numbered from 1000, with fields of their own. */
#ifndef NSC_USER_H
#define NSC_USER_H

#include "base/arena.h"
#include "base/vec.h"
#include "read/index.h"

enum {
    NSC_USER_FIRST = 1000,
    NSC_USER_MOST = 1000
}; /* the first kind and field of a user; how many rows there can be */

struct nsc_user_row {
    const char *name, *template_;
};

struct nsc_user_field {
    const char *name;
    char type; /* as in templates; 't' for an expression */
};

struct nsc_user {
    struct nsc_arena arena; /* holds the texts */
    struct nsc_index index;
    NSC_VEC(struct nsc_user_row) rows;     /* kind NSC_USER_FIRST + i */
    NSC_VEC(struct nsc_user_field) fields; /* field NSC_USER_FIRST + i */
};

/* The number of a field that a user row names: one of fields.def, or a new one. NONE and *wrong if that cannot be. */
ncclscope_field nsc_user_field(struct nsc_user *u, nsc_text name, nsc_text type, const char **wrong);
/* A row more; the index is built anew. OK, ENOMEM, EPATTERN or EINVAL with a sentence; then nothing was added. */
int nsc_user_add(struct nsc_user *u, pthread_mutex_t *lock, const char *name, const char *template_,
                 ncclscope_error *err);
const char *nsc_user_kind_name(const struct nsc_user *u, ncclscope_kind kind); /* NULL: none of this user's */
/* Name and type letter of a field of this user or of fields.def. */
const char *nsc_user_field_name(const struct nsc_user *u, ncclscope_field field, char *type);
void nsc_user_free(struct nsc_user *u);

#endif

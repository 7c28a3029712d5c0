/* pattern.h - "{name:type}" templates: a literal head, and behind it one anchored PCRE2 expression, compiled on first use, or a walk where the
 * template leaves no choice. */
#ifndef NSC_PATTERN_H
#define NSC_PATTERN_H

#include "base/text.h"

#include <pthread.h>
#include <stdatomic.h>

enum { NSC_PATTERN_FIELDS = 14 };

struct nsc_pattern {
    const char *template_;
    nsc_text head;                         /* what every match begins with; all of it when `literal` */
    nsc_text need;                         /* the longest literal behind the head: without it nothing needs compiling */
    bool literal;                          /* no fields: comparing the head is the match */
    bool open_end;                         /* may end before the text does: launcher prefixes */
    struct nsc_user *user;                 /* whose row it is: its fields may be new; NULL for the tables */
    _Atomic(struct nsc_program *) program; /* NULL until first needed */
    _Atomic(uint64_t) gave_up;             /* lines for which matching took too long */
};

/* One match: where the fields lie. Owned by a reader, reused for every line. */
struct nsc_match {
    struct nsc_match_data *data;
    nsc_text subject;
    const struct nsc_program *program; /* NULL: no fields */
    size_t length;                     /* of the match */
    bool walked;                       /* its fields are in span, else in data */
    size_t span[2 * NSC_PATTERN_FIELDS];
};

void nsc_pattern_init(struct nsc_pattern *p, const char *template_, bool open_end);
void nsc_pattern_free(struct nsc_pattern *p);
/* Compiles it now: matching takes no lock any more. False: no memory. */
bool nsc_pattern_prepare(struct nsc_pattern *p, pthread_mutex_t *lock);
/* Compile now, to find mistakes: OK, ENOMEM, EPATTERN with a sentence. */
int nsc_pattern_check(struct nsc_pattern *p, pthread_mutex_t *lock, ncclscope_error *err);

int nsc_match_new(struct nsc_match *m, ncclscope_error *err);
void nsc_match_free(struct nsc_match *m);

/* `head` was not yet compared. A template that cannot be compiled never matches. */
bool nsc_pattern_match(struct nsc_pattern *p, pthread_mutex_t *lock, nsc_text text, struct nsc_match *m);
/* Is `text` the beginning of something that would match, certainly: no field that takes just anything was involved? */
bool nsc_pattern_is_cut(struct nsc_pattern *p, pthread_mutex_t *lock, nsc_text text, struct nsc_match *m);

/* Could a text that begins with `start` match? False is certain. */
bool nsc_pattern_could_begin(struct nsc_pattern *p, pthread_mutex_t *lock, nsc_text start, struct nsc_match *m);
/* Does every field say what it takes (no {x:t}, no expression)? Known once the row has matched. */
bool nsc_pattern_is_strict(const struct nsc_pattern *p);

/* Is it what may stand behind the colon of a field: a letter of `types`, or /an expression/? */
bool nsc_is_type(nsc_text type);
/* A copy of `from` that nothing changes any more, over the same bytes at `subject`: into nsc_match_size(from) bytes. It is not freed by itself. */
size_t nsc_match_size(const struct nsc_match *from);
void nsc_match_copy(struct nsc_match *to, const struct nsc_match *from, nsc_text subject);
/* The text of this field; ptr NULL: the match has none of it. */
nsc_text nsc_match_text(const struct nsc_match *m, ncclscope_field field);
/* The i-th field of the match: false behind the last. */
bool nsc_match_field(const struct nsc_match *m, size_t i, ncclscope_field *field, nsc_text *out);

/* A template as people read it: "Channel <channel>/<conn> : <src>[<src_dev>] -> ..."; cut at `size`, always terminated. */
void nsc_template_spell(const char *template_, char *out, size_t size);

/* What of a template stands outside of its fields, as one text of at most `size` bytes: how many. Every match holds all of these characters. */
size_t nsc_template_plain(const char *template_, char *out, size_t size);

/* With or without JIT, and which: "10.42 2022-12-11 (JIT x86 64bit (little endian + unaligned))". */
void nsc_pattern_engine(char *out, size_t size);

#endif

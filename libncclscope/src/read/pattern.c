/* pattern.c - "{name:type}" templates to PCRE2; the only file that knows PCRE2. */
#include "read/pattern.h"

#include "base/alloc.h"
#include "read/grammar.h"
#include "read/walk.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>

struct nsc_program {
    pcre2_code *code;     /* NULL: does not compile, never matches */
    _Atomic(int) speed;   /* enum speed: machine code is made for the first whole match, most rows never come to that */
    bool strict;          /* every field says what it takes: a partial match proves a cut line */
    struct nsc_walk walk; /* without steps: none */
    size_t fields;
    ncclscope_field field[NSC_PATTERN_FIELDS];
    uint8_t begins[32]; /* a bit for each byte that a match can begin with */
};

enum speed { NOT_TRIED, JIT, PLAIN };

static const struct {
    char type;
    bool strict;
    const char *re;
} types[] = {
    {'u', true, "[0-9]+"},
    {'i', true, "-?[0-9]+"},
    {'x', true, "[0-9a-fA-F]+"},
    {'p', true, "0x[0-9a-fA-F]+|\\(nil\\)|[0-9a-fA-F]{6,}"},
    {'f', true, "-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|-?inf|-?nan"},
    {'w', true, "[^ ]+"},
    {'t', false, ".*?"},
    {'b', true, "[0-9a-fA-F:.]+"},
    {'v', true, "[0-9]+\\.[0-9]+[^ ]*"},
};

struct out {
    char text[2048];
    size_t len;
};

static bool add(struct out *o, const char *s, size_t len)
{
    if (o->len + len >= sizeof o->text)
        return false;
    memcpy(o->text + o->len, s, len);
    o->len += len;
    return true;
}

static bool add_literal(struct out *o, char c)
{
    char escaped[2] = {'\\', c};
    bool plain =
        nsc_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ' || (unsigned char)c >= 0x80;
    return plain ? add(o, &c, 1) : add(o, escaped, 2);
}

bool nsc_is_type(nsc_text type)
{
    for (size_t i = 0; type.len == 1 && i < sizeof types / sizeof types[0]; i++)
        if (type.ptr[0] == types[i].type)
            return true;
    return type.len >= 2 && type.ptr[0] == '/' && type.ptr[type.len - 1] == '/';
}

/* {name:type}, {name:/re/}, {:type}: what stands between the braces, to one group. */
static const char *add_field(struct out *o, struct nsc_program *prog, struct nsc_user *user, nsc_text name,
                             nsc_text type)
{
    const char *wrong = "no field of this name";
    ncclscope_field field = !name.len ? NCCLSCOPE_FIELD_NONE
                            : user    ? nsc_user_field(user, name, type, &wrong)
                                      : nsc_field_by_name(name);
    if (name.len && field == NCCLSCOPE_FIELD_NONE)
        return wrong;
    if (name.len && prog->fields == NSC_PATTERN_FIELDS)
        return "too many fields";
    for (size_t i = 0; name.len && i < prog->fields; i++)
        if (prog->field[i] == field)
            return "a field stands twice";
    if (name.len)
        prog->field[prog->fields++] = field;
    if (!add(o, name.len ? "(" : "(?:", name.len ? 1 : 3))
        return "too long";
    if (type.len >= 2 && type.ptr[0] == '/' && type.ptr[type.len - 1] == '/') {
        prog->strict = false;
        return add(o, type.ptr + 1, type.len - 2) && add(o, ")", 1) ? NULL : "too long";
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (type.len != 1 || type.ptr[0] != types[i].type)
            continue;
        prog->strict = prog->strict && types[i].strict;
        return add(o, types[i].re, strlen(types[i].re)) && add(o, ")", 1) ? NULL : "too long";
    }
    return "no type of this name";
}

/* End of the field that begins behind `p`: its closing brace; inside {name:/re/} braces belong to the expression. */
static const char *field_end(const char *p)
{
    const char *re = strstr(p, ":/"), *close = strchr(p, '}');
    if (!re || !close || close < re)
        return close;
    close = strstr(re + 2, "/}");
    return close ? close + 1 : NULL;
}

/* Template to expression; NULL when fine, else what is wrong. */
static const char *translate(const char *t, struct out *o, struct nsc_program *prog, struct nsc_user *user)
{
    for (; *t; t++) {
        if ((*t == '{' || *t == '}') && t[1] == *t) {
            if (!add_literal(o, *t++))
                return "too long";
        } else if (*t == '{') {
            const char *end = field_end(t + 1), *colon = strchr(t, ':');
            if (!end || !colon || colon > end)
                return "a field is {name:type}";
            nsc_text name = {t + 1, (size_t)(colon - t - 1)}, type = {colon + 1, (size_t)(end - colon - 1)};
            const char *wrong = add_field(o, prog, user, name, type);
            if (wrong)
                return wrong;
            t = end;
        } else if (*t == '}') {
            return "a brace without its partner";
        } else if (!add_literal(o, *t)) {
            return "too long";
        }
    }
    o->text[o->len] = 0;
    return NULL;
}

/* Which bytes can a match begin with? A row without a literal head is tried for nearly every line; this spares most calls. */
static void find_beginnings(struct nsc_program *prog)
{
    const uint8_t *map = NULL;
    uint32_t type = 0, first = 0;
    memset(prog->begins, 0xff, sizeof prog->begins);
    if (pcre2_pattern_info(prog->code, PCRE2_INFO_FIRSTBITMAP, &map) == 0 && map) {
        memcpy(prog->begins, map, sizeof prog->begins);
    } else if (pcre2_pattern_info(prog->code, PCRE2_INFO_FIRSTCODETYPE, &type) == 0 && type == 1 &&
               pcre2_pattern_info(prog->code, PCRE2_INFO_FIRSTCODEUNIT, &first) == 0 && first < 256) {
        unsigned other = first ^ 0x20; /* [Rr] is told as a caseless R: a letter may come in both cases */
        bool letter = (first | 0x20) >= 'a' && (first | 0x20) <= 'z';
        memset(prog->begins, 0, sizeof prog->begins);
        prog->begins[first / 8] |= (uint8_t)(1u << (first % 8));
        if (letter)
            prog->begins[other / 8] |= (uint8_t)(1u << (other % 8));
    }
}

static void *pcre2_takes(PCRE2_SIZE size, void *unused)
{
    (void)unused;
    return nsc_alloc(size);
}

static void pcre2_gives(void *p, void *unused)
{
    (void)unused;
    nsc_free(p);
}

/* PCRE2 with our allocator: what it lacks memory for is counted as ours is. */
static pcre2_code *compile_text(nsc_text text, int *number)
{
    PCRE2_SIZE at;
    pcre2_general_context *general = pcre2_general_context_create(pcre2_takes, pcre2_gives, NULL);
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    *number = PCRE2_ERROR_NOMEMORY;
    pcre2_code *code =
        context ? pcre2_compile((PCRE2_SPTR)text.ptr, text.len, PCRE2_ANCHORED | PCRE2_DOTALL, number, &at, context)
                : NULL;
    pcre2_compile_context_free(context);
    pcre2_general_context_free(general);
    return code;
}

static const char user_limit[] = "(*LIMIT_MATCH=20000)";

static struct nsc_program *compile(const struct nsc_pattern *p, ncclscope_error *err)
{
    struct out o = {.len = 0};
    struct nsc_program *prog = nsc_alloc(sizeof *prog);
    if (!prog) {
        nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
        return NULL;
    }
    prog->strict = true;
    if (p->user) /* somebody's expression may backtrack for ever */
        add(&o, user_limit, sizeof user_limit - 1);
    const char *wrong = translate(p->template_, &o, prog, p->user);
    if (!wrong && !p->open_end && !add(&o, "\\z", 2)) /* PCRE2_ENDANCHORED would forbid partial matches */
        wrong = "too long";
    if (wrong) {
        nsc_fail(err, NCCLSCOPE_EPATTERN, 0, "%s: %s", wrong, p->template_);
        return prog;
    }
    int number;
    unsigned before = nsc_failed_allocations();
    prog->code = compile_text((nsc_text){o.text, o.len}, &number);
    if (!prog->code && nsc_settle(NCCLSCOPE_OK, before, err)) {
        nsc_free(prog); /* not "never matches": the next who needs it tries again */
        return NULL;
    }
    if (!prog->code) {
        char why[120];
        pcre2_get_error_message(number, (PCRE2_UCHAR *)why, sizeof why);
        nsc_fail(err, NCCLSCOPE_EPATTERN, 0, "%s: %s", why, p->template_);
        return prog;
    }
    uint32_t groups = 0;
    pcre2_pattern_info(prog->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    if (groups != prog->fields) {
        pcre2_code_free(prog->code);
        prog->code = NULL;
        nsc_fail(err, NCCLSCOPE_EPATTERN, 0, "an expression may not hold groups of its own, use (?:...): %s",
                 p->template_);
        return prog;
    }
    find_beginnings(prog);
    if (!p->open_end)
        nsc_walk_make(&prog->walk, p->template_);
    return prog;
}

/* The compiled program, made by whoever needs it first. */
static struct nsc_program *program_of(struct nsc_pattern *p, pthread_mutex_t *lock, ncclscope_error *err)
{
    struct nsc_program *prog = atomic_load_explicit(&p->program, memory_order_acquire);
    if (prog)
        return prog;
    pthread_mutex_lock(lock);
    prog = atomic_load_explicit(&p->program, memory_order_relaxed);
    if (!prog) {
        prog = compile(p, err);
        atomic_store_explicit(&p->program, prog, memory_order_release);
    }
    pthread_mutex_unlock(lock);
    return prog;
}

size_t nsc_template_plain(const char *t, char *out, size_t size)
{
    size_t len = 0;
    while (*t && len < size) {
        bool doubled = (*t == '{' || *t == '}') && t[1] == *t;
        const char *end = *t == '{' && !doubled ? field_end(t + 1) : NULL;
        if (end) {
            t = end + 1;
            continue;
        }
        out[len++] = *t;
        t += doubled ? 2 : 1;
    }
    return len;
}

/* The longest run of plain characters behind the first field. */
static nsc_text longest_literal(const char *t)
{
    nsc_text best = {NULL, 0};
    while (*t) {
        size_t n = strcspn(t, "{}");
        if (n > best.len)
            best = (nsc_text){t, n};
        t += n;
        const char *end = *t == '{' && t[1] != '{' ? field_end(t + 1) : *t ? t + (t[1] != 0) : t;
        if (!end || !*end)
            break;
        t = end + 1;
    }
    return best;
}

void nsc_pattern_init(struct nsc_pattern *p, const char *template_, bool open_end)
{
    size_t head = strcspn(template_, "{}");
    p->template_ = template_;
    p->head = (nsc_text){template_, head};
    p->need = longest_literal(template_ + head);
    p->literal = !template_[head];
    p->open_end = open_end;
    p->user = NULL;
    atomic_init(&p->program, NULL);
    atomic_init(&p->gave_up, 0);
}

/* Machine code where there can be: hardened systems have none, which is slower and gives the same result. */
static int speed_up(struct nsc_program *prog, pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    int speed = atomic_load_explicit(&prog->speed, memory_order_relaxed);
    if (speed == NOT_TRIED) {
        speed = pcre2_jit_compile(prog->code, PCRE2_JIT_COMPLETE) == 0 ? JIT : PLAIN;
        atomic_store_explicit(&prog->speed, speed, memory_order_release);
    }
    pthread_mutex_unlock(lock);
    return speed;
}

void nsc_pattern_free(struct nsc_pattern *p)
{
    struct nsc_program *prog = atomic_load(&p->program);
    if (prog) {
        pcre2_code_free(prog->code);
        nsc_walk_free(&prog->walk);
    }
    nsc_free(prog);
    atomic_store(&p->program, NULL);
}

bool nsc_pattern_prepare(struct nsc_pattern *p, pthread_mutex_t *lock)
{
    struct nsc_program *prog = p->literal ? NULL : program_of(p, lock, NULL);
    bool by_expression = prog && prog->code && !prog->walk.steps;
    if (by_expression && atomic_load_explicit(&prog->speed, memory_order_acquire) == NOT_TRIED)
        speed_up(prog, lock);
    return p->literal || prog;
}

int nsc_pattern_check(struct nsc_pattern *p, pthread_mutex_t *lock, ncclscope_error *err)
{
    struct nsc_program *prog = program_of(p, lock, err);
    return !prog ? NCCLSCOPE_ENOMEM : prog->code ? NCCLSCOPE_OK : NCCLSCOPE_EPATTERN;
}

int nsc_match_new(struct nsc_match *m, ncclscope_error *err)
{
    pcre2_general_context *general = pcre2_general_context_create(pcre2_takes, pcre2_gives, NULL);
    pcre2_match_data *data = general ? pcre2_match_data_create(NSC_PATTERN_FIELDS + 1, general) : NULL;
    pcre2_general_context_free(general);
    *m = (struct nsc_match){.data = (struct nsc_match_data *)data};
    return m->data ? NCCLSCOPE_OK : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
}

void nsc_match_free(struct nsc_match *m)
{
    pcre2_match_data_free((pcre2_match_data *)m->data);
    *m = (struct nsc_match){0};
}

static bool match_expression(struct nsc_pattern *p, pthread_mutex_t *lock, struct nsc_program *prog,
                             struct nsc_match *m)
{
    nsc_text text = m->subject;
    unsigned char first = text.len ? (unsigned char)text.ptr[0] : 0;
    if (text.len && !(prog->begins[first / 8] >> (first % 8) & 1))
        return false;
    pcre2_match_data *data = (pcre2_match_data *)m->data;
    int speed = atomic_load_explicit(&prog->speed, memory_order_acquire);
    if (speed == NOT_TRIED)
        speed = speed_up(prog, lock);
    int n = speed == JIT ? pcre2_jit_match(prog->code, (PCRE2_SPTR)text.ptr, text.len, 0, 0, data, NULL)
                         : pcre2_match(prog->code, (PCRE2_SPTR)text.ptr, text.len, 0, 0, data, NULL);
    if (n == PCRE2_ERROR_MATCHLIMIT || n == PCRE2_ERROR_JIT_STACKLIMIT || n == PCRE2_ERROR_HEAPLIMIT)
        atomic_fetch_add_explicit(&p->gave_up, 1, memory_order_relaxed);
    if (n <= 0)
        return false;
    m->length = pcre2_get_ovector_pointer(data)[1];
    return true;
}

bool nsc_pattern_match(struct nsc_pattern *p, pthread_mutex_t *lock, nsc_text text, struct nsc_match *m)
{
    if (text.len < p->head.len || !nsc_same(text.ptr, p->head.ptr, p->head.len))
        return false;
    m->subject = text;
    m->program = NULL;
    m->length = p->head.len;
    if (p->literal)
        return p->open_end || text.len == p->head.len;
    struct nsc_program *prog = atomic_load_explicit(&p->program, memory_order_acquire);
    if (!prog && p->need.len && !memmem(text.ptr, text.len, p->need.ptr, p->need.len))
        return false;
    prog = prog ? prog : program_of(p, lock, NULL);
    if (!prog || !prog->code)
        return false;
    m->walked = prog->walk.steps > 0;
    m->length = text.len; /* all of it; what an expression with an open end takes, it says itself */
    if (!(m->walked ? nsc_walk_match(&prog->walk, text, p->head.len, m->span) : match_expression(p, lock, prog, m)))
        return false;
    m->program = prog;
    return true;
}

bool nsc_pattern_could_begin(struct nsc_pattern *p, pthread_mutex_t *lock, nsc_text start, struct nsc_match *m)
{
    size_t n = start.len < p->head.len ? start.len : p->head.len;
    if (n && memcmp(start.ptr, p->head.ptr, n) != 0)
        return false;
    if (start.len <= p->head.len)
        return true;
    struct nsc_program *prog = p->literal ? NULL : program_of(p, lock, NULL);
    if (!prog || !prog->code)
        return false;
    int rc = pcre2_match(prog->code, (PCRE2_SPTR)start.ptr, start.len, 0, PCRE2_PARTIAL_HARD | PCRE2_NO_JIT,
                         (pcre2_match_data *)m->data, NULL);
    return rc > 0 || rc == PCRE2_ERROR_PARTIAL;
}

bool nsc_pattern_is_cut(struct nsc_pattern *p, pthread_mutex_t *lock, nsc_text text, struct nsc_match *m)
{
    size_t n = text.len < p->head.len ? text.len : p->head.len;
    bool by_number = !p->head.len && text.len && nsc_is_digit(text.ptr[0]); /* "24 coll channels, 24 co" */
    if ((!n && !by_number) || (n && memcmp(text.ptr, p->head.ptr, n) != 0))
        return false;
    if (text.len < p->head.len)
        return true;
    struct nsc_program *prog = p->literal ? NULL : program_of(p, lock, NULL);
    if (!prog || !prog->code || !prog->strict)
        return false;
    return pcre2_match(prog->code, (PCRE2_SPTR)text.ptr, text.len, 0, PCRE2_PARTIAL_HARD | PCRE2_NO_JIT,
                       (pcre2_match_data *)m->data, NULL) == PCRE2_ERROR_PARTIAL;
}

bool nsc_pattern_is_strict(const struct nsc_pattern *p)
{
    const struct nsc_program *prog = atomic_load_explicit(&p->program, memory_order_acquire);
    return p->literal || (prog && prog->strict);
}

static const size_t *spans(const struct nsc_match *m)
{
    return m->walked ? m->span : (const size_t *)pcre2_get_ovector_pointer((pcre2_match_data *)m->data) + 2;
}

size_t nsc_match_size(const struct nsc_match *from)
{
    return offsetof(struct nsc_match, span) + (from->program ? from->program->fields * 2 * sizeof from->span[0] : 0);
}

void nsc_match_copy(struct nsc_match *to, const struct nsc_match *from, nsc_text subject)
{
    size_t head = offsetof(struct nsc_match, span), all = nsc_match_size(from);
    memcpy(to, from, head);
    if (all > head)
        memcpy((char *)to + head, spans(from), all - head);
    to->data = NULL;
    to->subject = subject;
    to->walked = true;
}

static nsc_text part(const struct nsc_match *m, size_t i)
{
    const size_t *at = spans(m);
    return (nsc_text){m->subject.ptr + at[2 * i], at[2 * i + 1] - at[2 * i]};
}

nsc_text nsc_match_text(const struct nsc_match *m, ncclscope_field field)
{
    for (size_t i = 0; m->program && i < m->program->fields; i++)
        if (m->program->field[i] == field)
            return part(m, i);
    return (nsc_text){NULL, 0};
}

bool nsc_match_field(const struct nsc_match *m, size_t i, ncclscope_field *field, nsc_text *out)
{
    if (!m->program || i >= m->program->fields)
        return false;
    *field = m->program->field[i];
    *out = part(m, i);
    return true;
}

/* What a field without a name is called. */
static const char *word_of_type(char type)
{
    switch (type) {
    case 'u':
    case 'i':
    case 'f': return "number";
    case 'x': return "hex";
    case 'p': return "pointer";
    case 'b': return "bus id";
    case 'v': return "version";
    case 'w': return "word";
    default: return "text";
    }
}

void nsc_template_spell(const char *t, char *out, size_t size)
{
    size_t n = 0;
    for (; *t && n + 1 < size; t++) {
        const char *end = *t == '{' && t[1] != '{' ? field_end(t + 1) : NULL, *colon = end ? strchr(t, ':') : NULL;
        if (colon && colon > t + 1)
            n += (size_t)snprintf(out + n, size - n, "<%.*s>", (int)(colon - t - 1), t + 1);
        else if (colon)
            n += (size_t)snprintf(out + n, size - n, "<%s>", word_of_type(colon[1]));
        else
            out[n++] = *t;
        n = n < size ? n : size - 1;
        if (colon)
            t = end;
        else if ((*t == '{' || *t == '}') && t[1] == *t)
            t++;
    }
    if (size)
        out[n] = 0;
}

void nsc_pattern_engine(char *out, size_t size)
{
    char version[64] = "", jit[64] = "";
    uint32_t has_jit = 0;
    pcre2_config(PCRE2_CONFIG_VERSION, version);
    pcre2_config(PCRE2_CONFIG_JIT, &has_jit);
    if (has_jit)
        pcre2_config(PCRE2_CONFIG_JITTARGET, jit);
    version[strcspn(version, " ")] = 0;
    snprintf(out, size, "%s (%s%s)", version, has_jit ? "JIT " : "no JIT", jit);
}

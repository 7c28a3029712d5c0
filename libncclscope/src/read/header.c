/* header.c - finds " NCCL INFO " and walks back over [dev], tid, pid, host; whatever is left of the host is the prefix. */
#include "read/header.h"

static bool is_host(char c)
{
    return nsc_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

/* The number that ends before `at`: its first digit, or `at` if there is none. A '-' may lead a device. */
static size_t number_before(nsc_text s, size_t from, size_t at, bool minus, int64_t *out)
{
    int64_t v = 0, place = 1;
    size_t i = at;
    for (; i > from && nsc_is_digit(s.ptr[i - 1]); i--, place *= 10) {
        if (at - i == 18)
            return at;
        v += place * (s.ptr[i - 1] - '0');
    }
    if (i == at)
        return at;
    bool negative = minus && i > from && s.ptr[i - 1] == '-';
    *out = negative ? -v : v;
    return i - negative;
}

/* "<host>", "<cluster_name>" that ends before `at`: what somebody wrote in place of a name; its beginning, or `at`. */
static size_t placeholder_before(nsc_text s, size_t from, size_t at)
{
    size_t i = at > from && s.ptr[at - 1] == '>' ? at - 1 : from;
    while (i > from && is_host(s.ptr[i - 1]))
        i--;
    return i > from && i + 1 < at && s.ptr[i - 1] == '<' ? i - 1 : at;
}

/* ":166:1226 [0]", "::166:1226 [0]": somebody took the host's name away and left the rest. */
static bool is_name_removed(nsc_text s, size_t from, size_t at, struct nsc_header *h)
{
    size_t i = at > from && s.ptr[at - 1] == ':' ? at - 1 : at;
    if (i > from && s.ptr[i - 1] != ' ')
        return false;
    h->host = NSC_TEXT("(unnamed)");
    h->start = i;
    return true;
}

/* "    none      -1node0:81033:81062 [3] NCCL INFO ...": the row of nccl-tests before it ends with the number of its root, -1 where it has
 * none. */
static size_t behind_root(nsc_text s, size_t i, size_t at)
{
    char next = i + 2 < at && i && s.ptr[i - 1] == ' ' && s.ptr[i] == '-' && s.ptr[i + 1] == '1'
                    ? nsc_lower(s.ptr[i + 2])
                    : ' ';
    return next >= 'a' && next <= 'z' ? 2 : 0;
}

/* host:pid that ends before `at`. */
static bool host_and_process(nsc_text s, size_t from, size_t at, struct nsc_header *h)
{
    size_t i = number_before(s, from, at, false, &h->pid);
    if (i == at || i <= from || s.ptr[i - 1] != ':')
        return false;
    at = --i;
    i = placeholder_before(s, from, at);
    for (bool named = i == at; named && i > from && is_host(s.ptr[i - 1]);)
        i--;
    if (i > from && s.ptr[i - 1] == '\\' && s.ptr[i] == 'n') /* a log pasted with its line ends spelt out */
        i++;
    i += behind_root(s, i, at);
    while (i < at && s.ptr[i] == '-') /* no host begins so: the end of what another writer left */
        i++;
    h->host = (nsc_text){s.ptr + i, at - i};
    h->start = i;
    return i < at || is_name_removed(s, from, at, h);
}

/* host:pid:tid that ends before `at`. */
static bool who(nsc_text s, size_t from, size_t at, struct nsc_header *h)
{
    size_t i = number_before(s, from, at, false, &h->tid);
    return i < at && i > from && s.ptr[i - 1] == ':' && host_and_process(s, from, i - 1, h);
}

/* host:pid:tid [dev] that ends before `at`. */
static bool who_and_device(nsc_text s, size_t from, size_t at, struct nsc_header *h)
{
    if (at <= from || s.ptr[at - 1] != ']')
        return false;
    size_t i = number_before(s, from, at - 1, true, &h->dev);
    if (i == at - 1 || i < from + 2 || s.ptr[i - 1] != '[' || s.ptr[i - 2] != ' ')
        return false;
    return who(s, from, i - 2, h);
}

/* "net_ib/[p2p.cc:783](https://p2p.cc:783/)": Markdown's editors take a file's name for one of a site. What it was before; else `s`. */
static nsc_text without_link(nsc_text s)
{
    ptrdiff_t at = s.len && s.ptr[s.len - 1] == ')' ? nsc_text_find(s, "](") : -1;
    return at > 0 ? (nsc_text){s.ptr, (size_t)at} : s;
}

/* Has a WARN's location its shape: anything, then ":line", and from 2.30.7 " (func)" behind that? */
static bool is_location(nsc_text s)
{
    s = without_link(s);
    size_t i = s.len;
    if (i && s.ptr[i - 1] == ')') {
        while (i && s.ptr[i - 1] != '(')
            i--;
        i = i >= 2 && s.ptr[i - 2] == ' ' ? i - 2 : s.len;
    }
    size_t end = i;
    while (i && nsc_is_digit(s.ptr[i - 1]))
        i--;
    return (i < end && i && s.ptr[i - 1] == ':') || nsc_text_is(s, "<unknown>");
}

/* "showVersion, 544", "ncclIbInit:171": what builds of NCCL with own changes print before INFO, too. */
static bool is_function_and_line(nsc_text s)
{
    size_t i = 0;
    while (i < s.len && is_host(s.ptr[i]) && s.ptr[i] != '-' && s.ptr[i] != '.')
        i++;
    size_t digits = i + (i < s.len && s.ptr[i] == ':' ? 1 : 2);
    bool separated = digits == i + 1 || (i + 2 <= s.len && s.ptr[i] == ',' && s.ptr[i + 1] == ' ');
    size_t end = digits;
    while (end < s.len && nsc_is_digit(s.ptr[end]))
        end++;
    return i && separated && end == s.len && end > digits;
}

/* "ncclIbPtrSupport(), transport/net_ib.cc:211": the same, with the file. */
static bool is_call_and_place(nsc_text s)
{
    ptrdiff_t at = nsc_text_find(s, "(), ");
    nsc_text name = {s.ptr, at > 0 ? (size_t)at : 0};
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == ' ')
            return false;
    return name.len && is_location(nsc_text_from(s, (size_t)at + 4));
}

/* "[init.cc:1815]" that ends before `at`: what is in it; `at` comes to its bracket. Empty: there is none. */
static nsc_text box_before(nsc_text s, size_t from, size_t *at)
{
    size_t end = *at, i = end > from && s.ptr[end - 1] == ']' ? end - 1 : from;
    while (i > from && s.ptr[i - 1] != '[' && s.ptr[i - 1] != ']' && s.ptr[i - 1] != ' ')
        i--;
    if (i <= from || s.ptr[i - 1] != '[')
        return (nsc_text){NULL, 0};
    *at = i - 1;
    return (nsc_text){s.ptr + i, end - 1 - i};
}

/* "[node-1][16101:17880][0][init.cc:1815]", as a vendor's build (ACCL-P) has it; at INFO too. */
static bool walk_back_boxes(nsc_text s, size_t from, size_t end, struct nsc_header *h)
{
    size_t at = end;
    nsc_text place = box_before(s, from, &at), dev = box_before(s, from, &at), ids = box_before(s, from, &at),
             host = box_before(s, from, &at);
    ptrdiff_t colon = nsc_text_find(ids, ":");
    if (!host.len || colon <= 0 || !is_location(place) || !nsc_to_i64(dev, &h->dev) ||
        !nsc_to_i64((nsc_text){ids.ptr, (size_t)colon}, &h->pid) ||
        !nsc_to_i64(nsc_text_from(ids, (size_t)colon + 1), &h->tid))
        return false;
    for (size_t i = 0; i < host.len; i++)
        if (!is_host(host.ptr[i]))
            return false;
    h->host = host;
    h->location = place;
    h->start = at;
    return true;
}

/* Between header and marker stands: nothing (INFO), no device either (CALL), a location (WARN, TRACE). */
static bool walk_back(nsc_text s, size_t from, struct nsc_header *h)
{
    size_t end = h->marker;
    if (end <= from + 1 || s.ptr[end - 1] != ' ')
        return false;
    end--;
    if (who_and_device(s, from, end, h) || walk_back_boxes(s, from, end, h))
        return true;
    h->dev = -1;
    if (h->level == NCCLSCOPE_LEVEL_CALL)
        return who(s, from, end, h);
    if (h->level == NCCLSCOPE_LEVEL_DIAG)
        return host_and_process(s, from, end, h);
    for (size_t i = end; i > from + 1; i--) {
        if (s.ptr[i] != ' ' || s.ptr[i - 1] != ']' || !who_and_device(s, from, i, h))
            continue;
        h->location = (nsc_text){s.ptr + i + 1, end - i - 1};
        return is_function_and_line(h->location) || is_call_and_place(h->location) ||
               (h->level != NCCLSCOPE_LEVEL_INFO && is_location(h->location));
    }
    return false;
}

/* The word that ends before `at`; its beginning. */
static size_t word_before(nsc_text s, size_t from, size_t at)
{
    while (at > from && s.ptr[at - 1] != ' ')
        at--;
    return at;
}

/* "init.cc:738", "/build/src/misc/rocmwrap.cc:148", and "xml.h:" where the number was taken away: what a location looks like where no header tells where it begins. */
static bool is_file_and_line(nsc_text word)
{
    ptrdiff_t blank = nsc_text_find(word, " (");
    word.len = blank > 0 ? (size_t)blank : word.len;
    ptrdiff_t dot = nsc_text_find(word, ".cc:");
    static const char *const others[] = {".cpp:", ".cu:", ".c:", ".h:"};
    for (size_t i = 0; dot < 0 && i < sizeof others / sizeof others[0]; i++)
        dot = nsc_text_find(word, others[i]);
    return dot > 0 && (nsc_is_digit(word.ptr[word.len - 1]) || word.ptr[word.len - 1] == ':');
}

/* "tcpxResult_t tcpxCommProgress(tcpxComm*):1231": where Google's plugin names a function in place of a file; its beginning, or `at`. */
static size_t function_before(nsc_text s, size_t from, size_t at)
{
    size_t i = at;
    while (i > from && nsc_is_digit(s.ptr[i - 1]))
        i--;
    if (i == at || i < from + 2 || s.ptr[i - 1] != ':' || s.ptr[i - 2] != ')')
        return at;
    while (i > from && !(s.ptr[i - 1] == ' ' && i >= from + 2 && s.ptr[i - 2] == ']'))
        i--;
    return i;
}

/* "56.247345 bootstrapRoot:103 NCCL TRACE": the time since NCCL was loaded stands before the place. */
static size_t begin_of_trace(nsc_text s, size_t from, size_t place)
{
    size_t end = place;
    while (end > from && s.ptr[end - 1] == ' ')
        end--;
    size_t number = word_before(s, from, end);
    for (size_t i = number; i < end; i++)
        if (!nsc_is_digit(s.ptr[i]) && s.ptr[i] != '.')
            return place;
    return number < end ? number : place;
}

/* "host:pid:tid NCCL INFO ...", "host:pid:tid misc/socket.cc:50 NCCL WARN ...": the device alone was taken away. */
static bool walk_back_without_device(nsc_text s, size_t from, struct nsc_header *h)
{
    size_t end = h->marker;
    if (end <= from + 1 || s.ptr[end - 1] != ' ')
        return false;
    size_t word = word_before(s, from, --end);
    nsc_text location = {s.ptr + word, end - word};
    bool placed = h->level != NCCLSCOPE_LEVEL_INFO && word > from + 1 && is_file_and_line(location);
    if (!who(s, from, placed ? word - 1 : end, h) || !h->host.len)
        return false;
    h->location = placed ? location : h->location;
    return true;
}

/* Archives and people take headers away, whole or in part. What may be left, from the marker back: a location, "[1]", "host:pid:tid",
 * "host:pid" or a word in their place, as the first of the line. Sets what is known; `start` is where it begins. */
static void walk_back_what_is_left(nsc_text s, size_t from, struct nsc_header *h)
{
    size_t at = h->marker;
    h->stripped = at == from || s.ptr[at - 1] == ' ';
    while (at > from && s.ptr[at - 1] == ' ')
        at--;
    size_t word = word_before(s, from, at);
    if (word > from + 1 && s.ptr[word] == '(' && s.ptr[at - 1] == ')') /* "register.cc:42 (ncclRegister)" */
        word = word_before(s, from, word - 1);
    size_t function = function_before(s, from, at);
    word = function < at ? function : word;
    nsc_text location = {s.ptr + word, at - word};
    bool has_place = h->level == NCCLSCOPE_LEVEL_WARN || h->level == NCCLSCOPE_LEVEL_ATTN;
    bool called = word == from && is_function_and_line(location); /* "process_completions:1648 NCCL WARN", a plugin's */
    if (has_place && location.len && (function < at || called || is_file_and_line(location))) {
        h->location = location;
        h->start = at = word;
        while (at > from && s.ptr[at - 1] == ' ')
            at--;
    }
    if (h->level == NCCLSCOPE_LEVEL_TRACE && location.len && is_function_and_line(location))
        h->start = at = begin_of_trace(s, from, word);
    int64_t dev = -1;
    if (at <= from || s.ptr[at - 1] != ']')
        return;
    word = number_before(s, from, at - 1, true, &dev);
    bool apart = word <= from + 1 || s.ptr[word - 2] == ' ' || s.ptr[word - 2] == '>'; /* "[0]<stdout>[0] NCCL" */
    if (word == at - 1 || word <= from || s.ptr[word - 1] != '[' || !apart)
        return;
    h->dev = dev;
    h->start = at = word - 1;
    while (at > from && s.ptr[at - 1] == ' ')
        at--;
    if (at == from || (word = word_before(s, from, at)) == at)
        return;
    size_t pid = number_before(s, word, at, false, &h->pid);
    if (pid < at && pid > word + 1 && s.ptr[pid - 1] == ':') {
        h->host = (nsc_text){s.ptr + word, pid - 1 - word};
        bool letter = false; /* "12:13 [0]": the host is lost, and these are pid and thread */
        for (size_t i = 0; i < h->host.len; i++) {
            letter = letter || !nsc_is_digit(h->host.ptr[i]);
            if (!is_host(h->host.ptr[i]))
                h->host.len = 0;
        }
        h->host.len = letter ? h->host.len : 0;
        h->start = word;
    } else if (word == from ||
               (word > from + 2 && s.ptr[word - 2] == ']')) { /* "node [1] ...": in place of what was taken away */
        h->start = word;
    }
    h->pid = h->host.len ? h->pid : -1;
}

/* A letter, digit, '_' or quote before it: prose, grep patterns, NCCL_DEBUG=INFO. */
static bool is_quoted(char c)
{
    return nsc_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("_\"'`|", c);
}

static int level_at(nsc_text s, size_t at)
{
    static const struct {
        char word[6];
        int level;
    } levels[] = {{"INFO", NCCLSCOPE_LEVEL_INFO}, {"WARN", NCCLSCOPE_LEVEL_WARN}, {"TRACE", NCCLSCOPE_LEVEL_TRACE},
                  {"CALL", NCCLSCOPE_LEVEL_CALL}, {"ATTN", NCCLSCOPE_LEVEL_ATTN}, {"DIAG", NCCLSCOPE_LEVEL_DIAG}};
    nsc_text rest = nsc_text_from(s, at);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        size_t n = strlen(levels[i].word);
        if (nsc_text_starts(rest, levels[i].word) &&
            (rest.len == n || rest.ptr[n] == ' ' || rest.ptr[n] == '\t' || rest.ptr[n] == '\r'))
            return levels[i].level;
    }
    return 0;
}

/* The next "NCCL " at or behind `from`, or the end of the line. A line holds few N: memchr to each is faster than memmem. */
static size_t find_nccl(nsc_text line, size_t from)
{
    while (from + 9 <= line.len) {
        const char *p = memchr(line.ptr + from, 'N', line.len - 8 - from);
        if (!p)
            break;
        if (!memcmp(p, "NCCL ", 5))
            return (size_t)(p - line.ptr);
        from = (size_t)(p - line.ptr) + 1;
    }
    return line.len;
}

/* NCCL 2.0 and 2.1 print no "NCCL": "vm:8258:8258 [0] INFO Using 512 threads", "vm:8258:8258 [0] misc/ibvwrap.cu:60 WARN Failed ...". */
static bool find_old(nsc_text line, size_t from, struct nsc_header *out)
{
    if (!nsc_header_bare(line, from, out))
        return false;
    nsc_text rest = nsc_text_from(line, out->marker), word = nsc_next_word(&rest);
    if (is_location(word) && word.len > 3) {
        out->location = word;
        word = nsc_next_word(&rest);
    }
    out->level = nsc_text_is(word, "WARN") && out->location.len    ? NCCLSCOPE_LEVEL_WARN
                 : nsc_text_is(word, "INFO") && !out->location.len ? NCCLSCOPE_LEVEL_INFO
                                                                   : 0;
    out->marker = (size_t)(word.ptr - line.ptr);
    out->message = (size_t)(rest.ptr - line.ptr);
    out->message += out->message < line.len && line.ptr[out->message] == ' ';
    out->whole = true;
    return out->level && word.len && rest.len;
}

static void forget_who(struct nsc_header *h)
{
    h->start = h->marker;
    h->pid = h->tid = h->dev = -1;
    h->host = h->location = (nsc_text){NULL, 0};
}

bool nsc_header_find(nsc_text line, size_t from, struct nsc_header *out)
{
    for (size_t at = find_nccl(line, from); at < line.len; at = find_nccl(line, at + 5)) {
        int level = level_at(line, at + 5);
        if (!level || (at > 0 && is_quoted(line.ptr[at - 1])))
            continue;
        size_t end = at + 5 + (level == NCCLSCOPE_LEVEL_TRACE ? 5 : 4);
        *out = (struct nsc_header){.start = at,
                                   .marker = at,
                                   .message = end + (end < line.len),
                                   .level = level,
                                   .pid = -1,
                                   .tid = -1,
                                   .dev = -1};
        out->whole = walk_back(line, from, out);
        if (!out->whole)
            forget_who(out);
        if (!out->whole && !from && !(out->whole = walk_back_without_device(line, from, out))) {
            forget_who(out);
            walk_back_what_is_left(line, from, out);
        }
        return true;
    }
    return !from && find_old(line, from, out);
}

/* By what tells headers of one host apart: the bytes before the bracket behind the device. */
static size_t place_of(nsc_text line)
{
    size_t most = line.len < NSC_HEADER_BYTES ? line.len : NSC_HEADER_BYTES;
    const char *end = most ? memchr(line.ptr, ']', most) : NULL;
    size_t len = end ? (size_t)(end - line.ptr) : 0;
    uint64_t ids, device;
    _Static_assert(NSC_HEADERS == 1 << 8, "a place for each 8 bits");
    if (len < sizeof device)
        return 0;
    memcpy(&ids, len < 16 ? line.ptr : end - 16, sizeof ids);
    memcpy(&device, end - sizeof device, sizeof device);
    return (ids * 0xff51afd7ed558ccdu ^ device) * 0xc4ceb9fe1a85ec53u >> 56;
}

bool nsc_header_known(const struct nsc_header_memo *memo, nsc_text line, size_t from, struct nsc_header *out)
{
    nsc_text rest = nsc_text_from(line, from);
    size_t k = place_of(rest), len = memo->of[k].len;
    if (!len || rest.len < len || !nsc_same(rest.ptr, memo->of[k].text, len))
        return false;
    *out = memo->of[k].h;
    out->host.ptr = rest.ptr;
    out->start = from;
    out->marker += from;
    out->message += from;
    return true;
}

/* Kept as if nothing stood before it. */
static void remember(struct nsc_header_memo *memo, nsc_text line, const struct nsc_header *h)
{
    nsc_text rest = nsc_text_from(line, h->start);
    size_t k = place_of(rest), len = h->message - h->start;
    bool marked =
        nsc_text_starts(nsc_text_from(line, h->marker), "NCCL "); /* else of 2.1, which a later marker outweighs */
    bool plain = marked && h->whole && h->level == NCCLSCOPE_LEVEL_INFO && !h->location.len && h->host.ptr == rest.ptr;
    if (!plain || len > NSC_HEADER_BYTES || rest.ptr[len - 1] != ' ')
        return;
    memo->of[k].h = *h;
    memo->of[k].h.start = 0;
    memo->of[k].h.marker -= h->start;
    memo->of[k].h.message = memo->of[k].len = len;
    memcpy(memo->of[k].text, rest.ptr, len);
}

bool nsc_header_find_again(struct nsc_header_memo *memo, nsc_text line, struct nsc_header *out)
{
    if (nsc_header_known(memo, line, 0, out))
        return true;
    bool found = nsc_header_find(line, 0, out);
    if (found)
        remember(memo, line, out);
    return found;
}

bool nsc_header_bare(nsc_text line, size_t from, struct nsc_header *out)
{
    for (size_t at = from; at < line.len; at++) {
        const char *p = memchr(line.ptr + at, ']', line.len - at);
        if (!p)
            return false;
        at = (size_t)(p - line.ptr);
        *out = (struct nsc_header){.level = NCCLSCOPE_LEVEL_INFO, .pid = -1, .tid = -1, .dev = -1};
        if (!who_and_device(line, from, at + 1, out) || (out->host.len < 3 && nsc_is_digit(out->host.ptr[0])))
            continue; /* 13:22:23 [1] is a clock */
        nsc_text rest = nsc_text_trim_end(nsc_text_from(line, at + 1));
        out->marker = out->message = at + 1 + (rest.len > 0);
        if (!rest.len || rest.ptr[0] == ' ')
            return true;
    }
    return false;
}

nsc_text nsc_without_screen(nsc_text line)
{
    size_t at = line.len;
    uint64_t n;
    while (at && line.ptr[at - 1] != ' ')
        at--;
    nsc_text last = nsc_text_from(line, at);
    const char *slash = last.len ? memchr(last.ptr, '/', last.len) : NULL;
    if (!slash || last.ptr[0] != '[' || last.ptr[last.len - 1] != ']')
        return line;
    nsc_text number = {last.ptr + 1, (size_t)(slash - last.ptr) - 1};
    nsc_text of = {slash + 1, (size_t)(last.ptr + last.len - slash) - 2};
    return nsc_to_u64(number, &n) && nsc_to_u64(of, &n) ? nsc_text_trim_end((nsc_text){line.ptr, at}) : line;
}

bool nsc_is_version_line(nsc_text line)
{
    if (!nsc_text_starts(line, "NCCL version ") && !nsc_text_starts(line, "RCCL version "))
        return false;
    nsc_text rest = nsc_text_trim(nsc_without_screen(nsc_text_from(line, 13)));
    if (rest.len > 2 && rest.ptr[0] == ':')
        rest = nsc_text_trim(nsc_text_from(rest, 1));
    nsc_text version = nsc_next_word(&rest), more = nsc_next_word(&rest);
    if (version.len < 3 || !nsc_is_digit(version.ptr[0]) || !memchr(version.ptr, '.', version.len))
        return false;
    bool commit = line.ptr[0] == 'R' ||
                  (more.len && memchr(more.ptr, ':', more.len)); /* "2.20.5+hip6.2 HEAD:4d66b3d", "... Unknown" */
    return !more.len || (commit && !nsc_next_word(&rest).len);
}

nsc_text nsc_marker_begun(nsc_text text)
{
    static const char marker[] = "NCCL INFO ";
    size_t n = 0;
    while (n < text.len && n < sizeof marker - 1 && text.ptr[n] == marker[n])
        n++;
    return (nsc_text){text.ptr, n};
}

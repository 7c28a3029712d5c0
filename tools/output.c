/* output.c - the one way out of a command. A regular file is written anew beside the old one and takes its place at the end, so that
 * neither a full disk nor a kill leaves half of it; pipes and terminals are written to as they are. */
#include "output.h"

#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output standard_output = {.fd = STDOUT_FILENO};

struct output *output_or_standard(struct output *o)
{
    return o->name ? o : &standard_output;
}

static int refuse(const struct output *o, const char *why)
{
    char words[200];
    snprintf(words, sizeof words, "cannot write: %s", why);
    tell(o->name ? o->name : "standard output", words);
    return EXIT_INPUT;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder of a path, allocated. */
static char *folder_of(const char *path)
{
    char *copy = strdup(path), *folder = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    return folder;
}

/* A link that another user laid into a folder where everybody may write, as in /tmp: what it leads to is not meant. */
static bool is_planted(const char *link, const struct stat *st)
{
    struct stat dir;
    char *folder = folder_of(link);
    bool known = folder && stat(folder, &dir) == 0;
    free(folder);
    return !known ||
           ((dir.st_mode & S_ISVTX) && (dir.st_mode & S_IWOTH) && st->st_uid != geteuid() && st->st_uid != dir.st_uid);
}

/* A regular file, or none yet: the folder must take a new one. */
static int find_folder(struct output *o)
{
    char *folder = o->target ? folder_of(o->target) : NULL;
    int why = folder ? 0 : ENOMEM;
    if (folder && access(folder, W_OK | X_OK) != 0)
        why = errno;
    free(folder);
    return why ? refuse(o, strerror(why)) : 0;
}

int output_find(struct output *o, const char *name)
{
    struct stat st, out;
    *o = (struct output){.name = name && strcmp(name, "-") ? name : NULL};
    if (!o->name)
        return 0;
    if (lstat(name, &st) != 0 && errno != ENOENT)
        return refuse(o, strerror(errno));
    if (lstat(name, &st) != 0) {
        o->target = strdup(name);
        return find_folder(o);
    }
    if (S_ISLNK(st.st_mode) && is_planted(name, &st))
        return refuse(o, "it is a link that somebody else laid there");
    if (stat(name, &st) != 0)
        return refuse(o, errno == ENOENT ? "it is a link to nothing" : strerror(errno));
    if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
        return refuse(o, S_ISDIR(st.st_mode) ? strerror(EISDIR) : "it is a disk");
    if (!S_ISREG(st.st_mode) || (fstat(STDOUT_FILENO, &out) == 0 && is_same(&st, &out)))
        return 0; /* /dev/stdout of a command whose output the shell appends to a file is no file to be replaced */
    if (access(name, W_OK) != 0)
        return refuse(o, strerror(errno));
    o->target = realpath(name, NULL);
    return find_folder(o);
}

/* Of a path, or of the archive that a source lies in: "logs.tar/node-1/rank-0.log". */
static int stat_input(const char *input, struct stat *in)
{
    char *path = strdup(input), *slash;
    int seen = path ? stat(path, in) : -1;
    while (path && seen != 0 && errno == ENOTDIR && (slash = strrchr(path, '/'))) {
        *slash = 0;
        seen = stat(path, in);
    }
    free(path);
    return seen;
}

bool output_is(const struct output *o, const char *input)
{
    struct stat out, in;
    int seen = o->name ? stat(o->name, &out) : fstat(STDOUT_FILENO, &out);
    if (seen != 0 || !S_ISREG(out.st_mode))
        return false;
    seen = strcmp(input, "-") ? stat_input(input, &in) : fstat(STDIN_FILENO, &in);
    return seen == 0 && is_same(&out, &in) && (o->name || in.st_size); /* `> FILE` of a shell has emptied it already */
}

bool output_is_one_of(const struct output *o, const char *const *inputs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (inputs[i] && output_is(o, inputs[i]))
            return refuse(o, "it is one of the inputs") != 0;
    return false;
}

bool output_is_source(const struct output *o, const ncclscope_model *m)
{
    bool any = false;
    const char *name;
    for (size_t i = 0; !any && (name = ncclscope_model_source_name(m, i)); i++)
        any = output_is_one_of(o, &name, 1);
    return any;
}

/* A new file of a name that nobody can know, with the rights of the one it will replace. */
static int open_part(struct output *o)
{
    struct stat old;
    char *folder = folder_of(o->target);
    if (!folder || asprintf(&o->part, "%s/.ncclscope-XXXXXX", folder) < 0)
        o->part = NULL;
    free(folder);
    int fd = o->part ? mkostemp(o->part, O_CLOEXEC) : -1;
    if (fd < 0) {
        free(o->part);
        o->part = NULL;
        return -1;
    }
    mode_t mask = umask(0);
    umask(mask);
    bool replaces = stat(o->target, &old) == 0;
    bool fine = (!replaces || fchown(fd, old.st_uid, old.st_gid) == 0 || errno == EPERM) &&
                fchmod(fd, replaces ? old.st_mode & 07777 : 0666 & ~mask) == 0;
    if (fine)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

const char *output_format(const char *name, bool csv, bool json)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return csv || (dot && !strcmp(dot, ".csv")) ? "csv" : json || (dot && !strcmp(dot, ".json")) ? "json" : "text";
}

int output_open(struct output *o)
{
    if (!o->name)
        return 0;
    int fd = o->target ? open_part(o) : open(o->name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
    o->fd = fd < 0 ? 0 : fd;
    if (o->fd)
        return 0;
    int said = refuse(o, strerror(errno));
    output_drop(o);
    return said;
}

int output_write(void *output, const char *bytes, size_t size)
{
    struct output *o = output;
    if (o->fd == STDOUT_FILENO)
        fflush(stdout); /* what was printed there before comes first */
    for (ssize_t n; size && !o->why; bytes += n, size -= (size_t)n) {
        n = write(o->fd, bytes, size);
        if (n < 0 && errno != EINTR)
            o->why = errno;
        n = n < 0 ? 0 : n;
    }
    return o->why != 0;
}

/* Down to the disk: after a rename there is no old file to go back to. */
static int keep(struct output *o)
{
    int fd = o->fd;
    o->fd = 0;
    if (!o->why && o->part && fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        o->why = errno;
    if (close(fd) != 0 && !o->why)
        o->why = errno;
    if (!o->why && o->part && rename(o->part, o->target) != 0)
        o->why = errno;
    if (!o->why && o->part) {
        free(o->part);
        o->part = NULL;
    }
    return o->why && o->why != EPIPE ? refuse(o, strerror(o->why)) : 0;
}

int output_end(struct output *o, bool whole)
{
    int said = o->name && o->fd && whole ? keep(o) : 0;
    output_drop(o);
    return said;
}

int output_end_standard(void)
{
    struct output *o = &standard_output;
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && !o->why)
        o->why = errno ? errno : EIO;
    return o->why && o->why != EPIPE ? refuse(o, strerror(o->why)) : 0;
}

void output_drop(struct output *o)
{
    if (o->fd && o->name)
        close(o->fd);
    if (o->part)
        unlink(o->part);
    free(o->part);
    free(o->target);
    *o = (struct output){.name = o->name, .fd = o->name ? 0 : o->fd, .why = o->why};
}

void output_guard_standard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) /* using it still fails */
            _exit(EXIT_INPUT);
}

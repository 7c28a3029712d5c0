/* fault.c - preloaded before a program: its n-th allocation fails, or its n-th read or write. Libraries of other people, and the C library, ask the
 * same functions, so theirs fail too.
 *
 *   FAULT_ALLOC=n   malloc, calloc and realloc together, counted from the start of main; 0: none fails
 *   FAULT_READ=n    read and pread, of files and pipes
 *   FAULT_WRITE=n   write and pwrite
 *   FAULT_COUNT=FILE where the three counts are written when the program ends */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static ssize_t (*next_read)(int, void *, size_t), (*next_write)(int, const void *, size_t);
static ssize_t (*next_pread)(int, void *, size_t, off64_t), (*next_pwrite)(int, const void *, size_t, off64_t);
static struct fault {
    atomic_long count;
    long failing;
} allocation, reading, writing;
static bool counting;

static long number(const char *name)
{
    const char *s = getenv(name);
    return s ? strtol(s, NULL, 10) : 0;
}

static void find_next(void)
{
    next_malloc = dlsym(RTLD_NEXT, "malloc");
    next_calloc = dlsym(RTLD_NEXT, "calloc");
    next_realloc = dlsym(RTLD_NEXT, "realloc");
    next_read = dlsym(RTLD_NEXT, "read");
    next_write = dlsym(RTLD_NEXT, "write");
    next_pread = dlsym(RTLD_NEXT, "pread64");
    next_pwrite = dlsym(RTLD_NEXT, "pwrite64");
}

__attribute__((constructor)) static void begin(void)
{
    if (!next_read)
        find_next();
    allocation.failing = number("FAULT_ALLOC");
    reading.failing = number("FAULT_READ");
    writing.failing = number("FAULT_WRITE");
    unsetenv("LD_PRELOAD"); /* children are not meant */
    counting = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    char text[64];
    counting = false;
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    int n =
        snprintf(text, sizeof text, "%ld %ld %ld\n", (long)allocation.count, (long)reading.count, (long)writing.count);
    if (fd >= 0 && next_write(fd, text, (size_t)n) == n)
        close(fd);
}

static bool fails(struct fault *f, int why)
{
    if (!counting || ++f->count != f->failing)
        return false;
    errno = why;
    return true;
}

void *malloc(size_t size)
{
    if (!next_malloc)
        find_next();
    return fails(&allocation, ENOMEM) ? NULL : next_malloc(size);
}

/* dlsym itself may ask for memory before it has told where that is. */
void *calloc(size_t n, size_t size)
{
    static char first[4096];
    static size_t used;
    if (!next_calloc && used + n * size <= sizeof first) {
        used += (n * size + 15) & ~(size_t)15;
        return first + used - ((n * size + 15) & ~(size_t)15);
    }
    return fails(&allocation, ENOMEM) ? NULL : next_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    if (!next_realloc)
        find_next();
    return fails(&allocation, ENOMEM) ? NULL : next_realloc(old, size);
}

ssize_t read(int fd, void *to, size_t size)
{
    return fails(&reading, EIO) ? -1 : next_read(fd, to, size);
}

ssize_t pread64(int fd, void *to, size_t size, off64_t at)
{
    return fails(&reading, EIO) ? -1 : next_pread(fd, to, size, at);
}

ssize_t write(int fd, const void *from, size_t size)
{
    return fails(&writing, ENOSPC) ? -1 : next_write(fd, from, size);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at)
{
    return fails(&writing, ENOSPC) ? -1 : next_pwrite(fd, from, size, at);
}

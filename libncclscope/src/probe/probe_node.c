/* probe_node.c - the machine and the container around this process, by what the kernel shows. */
#include "probe/probes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

nsc_text nsc_first_line(const char *path, char *buf, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(buf, 1, size, file) : 0;
    const char *end = n ? memchr(buf, '\n', n) : NULL;
    if (file)
        fclose(file);
    return nsc_text_trim((nsc_text){buf, end ? (size_t)(end - buf) : n});
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void look_at_kernel(struct ncclscope_facts *f)
{
    struct utsname u;
    struct tm utc;
    time_t now = time(NULL);
    char text[4096], product[256];
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        nsc_fact_text(f, &f->node.asked_at, nsc_text_of(text));
    if (uname(&u) == 0) {
        nsc_fact_text(f, &f->node.host_name, nsc_text_of(u.nodename));
        nsc_fact_text(f, &f->node.kernel, nsc_text_of(u.release));
    }
    nsc_text boot = nsc_first_line("/proc/sys/kernel/random/boot_id", text, sizeof text);
    if (boot.len)
        nsc_fact_hash(f, &f->node.boot_id, boot);
    nsc_text vendor = nsc_first_line("/sys/class/dmi/id/sys_vendor", text, 256);
    nsc_text name = nsc_first_line("/sys/class/dmi/id/product_name", product, sizeof product);
    if (vendor.len || name.len)
        nsc_fact_printf(f, &f->node.system, "%.*s%s%.*s", (int)vendor.len, vendor.ptr,
                        vendor.len && name.len ? " " : "", (int)name.len, name.ptr);
    nsc_text line = nsc_first_line("/proc/cmdline", text, sizeof text);
    for (nsc_text word = nsc_next_word(&line); word.len; word = nsc_next_word(&line))
        if (nsc_text_starts(word, "iommu=") && word.len > 6)
            nsc_fact_text(f, &f->node.iommu_mode, nsc_text_from(word, 6));
}

/* "hypervisor" among the flags of the first processor. */
static void look_at_processors(struct ncclscope_facts *f)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[8192];
    cpu_set_t set;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "flags", 5) != 0)
            continue;
        nsc_fact_int(&f->node.virtual_machine, strstr(line, " hypervisor") != NULL);
        break;
    }
    if (file)
        fclose(file);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        nsc_fact_int(&f->node.cpus, CPU_COUNT(&set));
    DIR *nodes = opendir("/sys/devices/system/node");
    int64_t n = 0;
    for (struct dirent *d; nodes && (d = readdir(nodes));)
        n += !strncmp(d->d_name, "node", 4) && nsc_is_digit(d->d_name[4]);
    if (nodes)
        closedir(nodes);
    if (n)
        nsc_fact_int(&f->node.numa_nodes, n);
}

static void look_at_container(struct ncclscope_facts *f)
{
    const char *cuda = getenv("CUDA_VISIBLE_DEVICES"), *nvidia = getenv("NVIDIA_VISIBLE_DEVICES");
    const char *kind = getenv("KUBERNETES_SERVICE_HOST") ? "kubernetes"
                       : is_there("/.dockerenv")         ? "docker"
                       : is_there("/run/.containerenv")  ? "podman"
                                                         : NULL;
    if (kind)
        nsc_fact_text(f, &f->node.container, nsc_text_of(kind));
    if (cuda)
        nsc_fact_text(f, &f->node.cuda_visible_devices, nsc_text_of(cuda));
    if (nvidia)
        nsc_fact_text(f, &f->node.nvidia_visible_devices, nsc_text_of(nvidia));
}

static void look_at_limits(struct ncclscope_facts *f)
{
    struct statvfs shm;
    struct stat st;
    struct rlimit limit;
    if (statvfs("/dev/shm", &shm) == 0) {
        nsc_fact_int(&f->node.shm_bytes, (int64_t)(shm.f_blocks * shm.f_frsize));
        nsc_fact_int(&f->node.shm_free_bytes, (int64_t)(shm.f_bavail * shm.f_frsize));
    }
    if (stat("/dev/shm", &st) == 0)
        nsc_fact_printf(f, &f->node.shm_device, "%u:%u", major(st.st_dev), minor(st.st_dev));
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        nsc_fact_int(&f->node.memlock_bytes, limit.rlim_cur == RLIM_INFINITY ? -1 : (int64_t)limit.rlim_cur);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        nsc_fact_int(&f->node.open_files, (int64_t)limit.rlim_cur);
}

/* ---- NCCL's variables ---- */

static void add_variable(struct ncclscope_facts *f, nsc_text line, const char *from)
{
    const char *equals = line.len ? memchr(line.ptr, '=', line.len) : NULL;
    size_t n = equals ? (size_t)(equals - line.ptr) : 0;
    if (!n || !nsc_text_starts(line, "NCCL_"))
        return;
    struct nsc_fact_variable *v = nsc_vec_push(&f->variables);
    f->no_memory = f->no_memory || !v;
    if (!v)
        return;
    nsc_fact_text(f, &v->name, (nsc_text){line.ptr, n});
    nsc_fact_text(f, &v->value, nsc_text_from(line, n + 1));
    nsc_fact_text(f, &v->from, nsc_text_of(from));
}

/* As NCCL does it: the newline is no part of a value, blanks at its end are. */
static void read_file(struct ncclscope_facts *f, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[4096];
    while (file && fgets(line, sizeof line, file))
        add_variable(f, (nsc_text){line, strcspn(line, "\n")}, path);
    if (file)
        fclose(file);
}

/* As NCCL reads them: the environment first, then the user's file, or what NCCL_CONF_FILE names, then that of the machine. */
static void look_at_variables(struct ncclscope_facts *f)
{
    const char *file = secure_getenv("NCCL_CONF_FILE"), *home = secure_getenv("HOME");
    char path[4096];
    for (char **e = environ; e && *e; e++)
        add_variable(f, nsc_text_of(*e), "environment");
    if (!file && home && snprintf(path, sizeof path, "%s/.nccl.conf", home) < (int)sizeof path)
        file = path;
    if (file)
        read_file(f, file);
    read_file(f, "/etc/nccl.conf");
}

void nsc_probe_node(struct ncclscope_facts *f, const struct ncclscope_facts *known)
{
    (void)known;
    look_at_kernel(f);
    look_at_processors(f);
    look_at_container(f);
    look_at_limits(f);
    look_at_variables(f);
}

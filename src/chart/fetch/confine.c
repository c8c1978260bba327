#include "chart/fetch/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/seccomp.h"

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif
#ifdef LANDLOCK_ACCESS_FS_REFER
#define HAS_LANDLOCK 1
#else
#define HAS_LANDLOCK 0
#endif

enum { THREAD_STACK = 512 << 10 };

static void limit(int resource, rlim_t most)
{
    const struct rlimit l = { most, most };
    if (most)
        (void)setrlimit(resource, &l);
}

/* ---- files -------------------------------------------------------------------------------------
 */

#if HAS_LANDLOCK
static void allow_writes_below(int rules, const char *dir, uint64_t access)
{
    struct landlock_path_beneath_attr below = {
        .allowed_access = access,
        .parent_fd = open(dir, O_PATH | O_CLOEXEC),
    };
    if (below.parent_fd < 0)
        return;
    (void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0U);
    (void)close(below.parent_fd);
}

static void limit_writes(const char *const *dirs)
{
    const uint64_t access = LANDLOCK_ACCESS_FS_REFER | LANDLOCK_ACCESS_FS_WRITE_FILE |
                            LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                            LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                            LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                            LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                            LANDLOCK_ACCESS_FS_MAKE_SYM;
    const struct landlock_ruleset_attr attr = { .handled_access_fs = access };
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 2)
        return; /* a kernel without it, or with one that lets no file be moved to another folder */
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0U);
    if (rules < 0)
        return;
    for (; *dirs; dirs++)
        allow_writes_below(rules, *dirs, access);
    allow_writes_below(rules, "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE);
    (void)syscall(SYS_landlock_restrict_self, rules, 0U);
    (void)close(rules);
}
#else
static void limit_writes(const char *const *dirs SW_UNUSED)
{
}
#endif

/* ---- system calls ------------------------------------------------------------------------------
 */

#ifdef SW_SECCOMP_ARCH
/* What neither libcurl, libgit2, libssh2 nor name services do. */
static const int refused[] = {
    SYS_execveat,       SYS_ptrace,       SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_listen,         SYS_accept,       SYS_accept4,          SYS_mount,
    SYS_umount2,        SYS_pivot_root,   SYS_chroot,           SYS_unshare,
    SYS_setns,          SYS_bpf,          SYS_keyctl,           SYS_add_key,
    SYS_request_key,    SYS_userfaultfd,  SYS_perf_event_open,  SYS_open_by_handle_at,
    SYS_init_module,    SYS_finit_module, SYS_kexec_load,       SYS_mknodat,
    SYS_fanotify_init,  SYS_personality,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_mknod
    SYS_mknod,
#endif
};
static const int families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };

#define REFUSE SW_SECCOMP_FAIL(EPERM)

/* Of sockets only those of some families. */
static void limit_sockets(struct sw_seccomp *f)
{
    sw_seccomp_add(f, SW_SECCOMP_JUMP(BPF_JEQ, SYS_socket, 0, 2 * SW_COUNT(families) + 2));
    sw_seccomp_add(f, SW_SECCOMP_LOAD(SW_SECCOMP_FIELD(args)));
    sw_seccomp_calls(f, families, SW_COUNT(families), SECCOMP_RET_ALLOW);
    sw_seccomp_add(f, SW_SECCOMP_RETURN(REFUSE));
}

static void limit_calls(bool may_run_programs)
{
    static const int programs[] = { SYS_execve };
    struct sw_seccomp f = { .n = 0 };
    sw_seccomp_begin(&f);
    sw_seccomp_calls(&f, refused, SW_COUNT(refused), REFUSE);
    if (!may_run_programs)
        sw_seccomp_calls(&f, programs, SW_COUNT(programs), REFUSE);
    limit_sockets(&f);
    (void)sw_seccomp_enter(&f, SECCOMP_RET_ALLOW);
}
#else
static void limit_calls(bool may_run_programs SW_UNUSED)
{
} /* this machine's are not known */
#endif

void sw_confine(const struct sw_confine_opts *opts)
{
    const struct rlimit no_core = { 0, 0 };
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    sw_close_from(3);
    sw_on_out_of_memory(opts->out_of_memory);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    limit(RLIMIT_CPU, opts->cpu_s);
    limit(RLIMIT_FSIZE, opts->file_bytes);
    if (!SW_IS_SANITIZED) {
        /* threads resolve names: without heaps and large stacks of their own */
        pthread_attr_t threads;
        (void)mallopt(M_ARENA_MAX, 1);
        if (pthread_attr_init(&threads) == 0) {
            (void)pthread_attr_setstacksize(&threads, THREAD_STACK);
            (void)pthread_setattr_default_np(&threads);
            (void)pthread_attr_destroy(&threads);
        }
        limit(RLIMIT_DATA, opts->bytes);
    }
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit_writes(opts->dirs);
    limit_calls(opts->may_run_programs);
}

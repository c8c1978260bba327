#include "operator/renderer/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/openssl.h"
#include "base/seccomp.h"
#include "chart/template/template.h"
#include "operator/renderer/frame.h"

enum { EXIT_LIMIT = 4, SIGNAL_STACK = 64 << 10, ROOM = 1 << 20 };

static struct {
    int fd;
    size_t bytes;
    unsigned cpu_s, wall_ms;
    bool is_filtered;
    volatile sig_atomic_t writing;
} sandbox = { .fd = -1 };

/* ---- the last message --------------------------------------------------------------------------
 */

/* Append @text to @b as part of a JSON string, what needs escaping replaced. */
static size_t put(char *b, size_t at, size_t cap, const char *text, size_t len)
{
    for (size_t i = 0; i < len && at + 1 < cap; i++)
        b[at++] = (unsigned char)text[i] < 0x20 || text[i] == '"' || text[i] == '\\' ||
                          (unsigned char)text[i] > 0x7e
                      ? '?'
                      : text[i];
    return at;
}

static size_t put_number(char *b, size_t at, size_t cap, size_t n)
{
    char digits[24];
    size_t i = sizeof digits;
    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    return put(b, at, cap, digits + i, sizeof digits - i);
}

/* Say that the work took more than @n @unit, and end: in a signal handler, or without memory. */
static _Noreturn void give_up(size_t n, const char *unit)
{
    static char b[1024];
    static const char before[] = "{\"code\":-5,\"limit\":true,\"error\":\"", after[] = "\"}";
    const char *name = NULL;
    size_t line = 0, len = FRAME_HEAD, cap = sizeof b - sizeof after;
    if (sandbox.writing)
        _exit(EXIT_LIMIT);
    memcpy(b + len, before, sizeof before - 1);
    len += sizeof before - 1;
    if (sw_template_running(&name, &line)) {
        len = put(b, len, cap - 100, name, strlen(name));
        len = put(b, len, cap, ":", 1);
        len = put_number(b, len, cap, line);
        len = put(b, len, cap, ": ", 2);
    }
    len = put(b, len, cap, "took more than its ", 19);
    len = put_number(b, len, cap, n);
    len = put(b, len, cap, " ", 1);
    len = put(b, len, cap, unit, strlen(unit));
    memcpy(b + len, after, sizeof after - 1);
    len += sizeof after - 1;
    frame_head(b, 'A', len - FRAME_HEAD);
    for (size_t at = 0; at < len;) {
        ssize_t done = write(sandbox.fd, b + at, len - at);
        if (done <= 0 && errno != EINTR)
            break;
        at += done > 0 ? (size_t)done : 0;
    }
    _exit(EXIT_LIMIT);
}

static void on_time(int signal)
{
    if (signal == SIGXCPU)
        give_up(sandbox.cpu_s, "s of processor time");
    give_up(sandbox.wall_ms, "ms");
}

static void on_memory(void)
{
    give_up(sandbox.bytes >> 20, "MiB");
}

/* The stack has its limit, and libraries use what malloc() did not give. */
static void on_fault(int signal SW_UNUSED)
{
    give_up(sandbox.bytes >> 20, "MiB");
}

/* json-c asserts that it has got the memory it asked for. What else is asserted ends the process as
 * it would. */
static void on_abort(int signal SW_UNUSED)
{
    if (mmap(NULL, ROOM, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        give_up(sandbox.bytes >> 20, "MiB");
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(signal, &action, NULL);
}

static void handle_signals(void)
{
    static char stack[SIGNAL_STACK];
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
    (void)sigaltstack(&other, NULL);
    handle(SIGXCPU, on_time);
    handle(SIGTERM, on_time); /* the controller's clock */
    if (!SW_IS_SANITIZED) {
        handle(SIGSEGV, on_fault);
        handle(SIGBUS, on_fault);
        handle(SIGABRT, on_abort);
    }
    sw_on_out_of_memory(on_memory);
}

/* ---- the filter of system calls ----------------------------------------------------------------
 */

#ifdef SW_SECCOMP_ARCH

static const int allowed[] = {
    SYS_read,          SYS_write,        SYS_munmap,         SYS_mremap,          SYS_brk,
    SYS_madvise,       SYS_futex,        SYS_exit,           SYS_exit_group,      SYS_rt_sigreturn,
    SYS_rt_sigaction,  SYS_getpid,       SYS_rt_sigprocmask, SYS_gettid,          SYS_sigaltstack,
    SYS_clock_gettime, SYS_gettimeofday, SYS_getrandom,      SYS_restart_syscall, SYS_sched_yield,
    SYS_getrusage,     SYS_sysinfo,      SYS_tgkill,         SYS_clock_nanosleep, SYS_nanosleep,
    SYS_times,
#ifdef SYS_time
    SYS_time,
#endif
};

/* Libraries look for files that need not be there. */
static const int absent[] = {
    SYS_openat,  SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat,
#ifdef SYS_open
    SYS_open,    SYS_stat,       SYS_lstat, SYS_access,    SYS_readlink,
#endif
#ifdef SYS_openat2
    SYS_openat2, SYS_faccessat2,
#endif
};

/* Nothing that renders asks for these. */
static const int deadly[] = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_recvmsg,
    SYS_recvmmsg,
    SYS_execve,
    SYS_execveat,
    SYS_clone,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kill,
    SYS_tkill,
    SYS_mount,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_keyctl,
    SYS_userfaultfd,
    SYS_perf_event_open,
    SYS_memfd_create,
    SYS_open_by_handle_at,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
#ifdef SYS_clone3
    SYS_clone3,
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
};

/* For @call: allow it if none of the bits @forbidden is in the argument @arg, and it equals
 * @wanted, where that is not negative. */
static void rule_arg(struct sw_seccomp *f, int call, int arg, unsigned forbidden, int wanted)
{
    sw_seccomp_add(f, SW_SECCOMP_JUMP(BPF_JEQ, (unsigned)call, 0, 4));
    sw_seccomp_add(f, SW_SECCOMP_LOAD(SW_SECCOMP_FIELD(args) + (unsigned)arg * sizeof(uint64_t)));
    sw_seccomp_add(f, wanted < 0 ? SW_SECCOMP_JUMP(BPF_JSET, forbidden, 1, 0)
                                 : SW_SECCOMP_JUMP(BPF_JEQ, (unsigned)wanted, 0, 1));
    sw_seccomp_add(f, SW_SECCOMP_RETURN(SECCOMP_RET_ALLOW));
    sw_seccomp_add(f, SW_SECCOMP_RETURN(SW_SECCOMP_FAIL(EPERM)));
}

static bool filter_calls(void)
{
    static struct sw_seccomp f;
    sw_seccomp_begin(&f);
    sw_seccomp_calls(&f, allowed, SW_COUNT(allowed), SECCOMP_RET_ALLOW);
    sw_seccomp_calls(&f, absent, SW_COUNT(absent), SW_SECCOMP_FAIL(ENOENT));
    sw_seccomp_calls(&f, deadly, SW_COUNT(deadly), SECCOMP_RET_KILL_PROCESS);
    rule_arg(&f, SYS_mmap, 2, PROT_EXEC, -1);
    rule_arg(&f, SYS_mprotect, 2, PROT_EXEC, -1);
    rule_arg(&f, SYS_prlimit64, 1, 0, RLIMIT_CPU);
    return sw_seccomp_enter(&f, SW_SECCOMP_FAIL(ENOSYS));
}

#else

static bool filter_calls(void)
{
    return false; /* the numbers of this machine's calls are not known */
}

#endif

/* ---- life --------------------------------------------------------------------------------------
 */

static void limit(int resource, rlim_t soft, rlim_t hard)
{
    const struct rlimit l = { soft, hard };
    (void)setrlimit(resource, &l);
}

/* What libraries and the C library read from files when they are used first. */
static void read_ahead(void)
{
    char digest[SW_SHA256_HEX];
    time_t now = time(NULL);
    struct tm tm;
    tzset();
    (void)localtime_r(&now, &tm);
    (void)sw_libcrypto();
    (void)sw_sha256_hex("", 0, digest);
    (void)sw_stack_has_room();
}

void sandbox_enter(int fd, size_t bytes, unsigned cpu_s, unsigned wall_ms)
{
    sandbox.fd = STDIN_FILENO;
    sandbox.bytes = bytes;
    sandbox.cpu_s = cpu_s;
    sandbox.wall_ms = wall_ms;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    read_ahead();
    (void)clearenv();
    if (fd != STDIN_FILENO)
        (void)dup2(fd, STDIN_FILENO);
    sw_close_from(1);
    handle_signals();
    (void)setpriority(PRIO_PROCESS, 0, 10); /* others come first */
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_FSIZE, 0, 0);
    limit(RLIMIT_NOFILE, 1, 1);
    if (!SW_IS_SANITIZED)
        limit(RLIMIT_AS, bytes, bytes);
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    sandbox.is_filtered = filter_calls();
}

bool sandbox_is_filtered(void)
{
    return sandbox.is_filtered;
}

void sandbox_work_begins(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        limit(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + sandbox.cpu_s + 1,
              RLIM_INFINITY);
}

void sandbox_writes(bool writing)
{
    sandbox.writing = writing;
}

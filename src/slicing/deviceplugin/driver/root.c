#include "slicing/deviceplugin/driver/root.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"

/* as of a shell */
enum { NOT_THERE = 127, NOT_RUN = 126 };
enum { CHECK_MS = 10, MAX_ARGS = 16, MAX_OUTPUT = 64 * 1024 };

#define SEARCH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

char *dp_driver_root(const char *host_root)
{
    static const char of_container[] = "/run/nvidia/driver";
    struct stat st;
    const char *root = strcmp(host_root, "/") == 0 ? "" : host_root;
    SW_AUTO_CHARS *smi = sw_printf("%s%s/usr/bin/nvidia-smi", root, of_container);
    /* a link may be meant for that root: it is not followed */
    return lstat(smi, &st) == 0 ? sw_printf("%s%s", root, of_container)
                                : sw_strdup(*root ? root : "/");
}

void dp_in_root(int argc, char **argv)
{
    if (argc < 2)
        _exit(NOT_RUN);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would wait for it */
    if ((strcmp(argv[0], "/") != 0 && chroot(argv[0]) != 0) || chdir("/") != 0) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
        _exit(NOT_RUN);
    }
    (void)execvp(argv[1], argv + 1);
    const int why = errno;
    (void)fprintf(stderr, "%s: %s\n", argv[1], strerror(why));
    _exit(why == ENOENT ? NOT_THERE : NOT_RUN);
}

static int start(const char *root, const char *const *argv, const char *const *env, const int *fds,
                 pid_t *pid, struct sw_err *err)
{
    static const char self[] = "/proc/self/exe";
    const char *args[MAX_ARGS + 4] = { self, DP_IN_ROOT, root };
    const char *vars[MAX_ARGS + 2] = { SEARCH };
    for (size_t i = 0; i < MAX_ARGS && argv[i]; i++)
        args[i + 3] = argv[i];
    for (size_t i = 0; env && i < MAX_ARGS && env[i]; i++)
        vars[i + 1] = env[i];
    const int rc = sw_spawn(
        &(struct sw_spawn){ .argv = args, .env = (char *const *)vars, .fds = fds }, pid);
    return rc ? sw_err_set(err, SW_UNAVAILABLE, "%s: %s", argv[0], strerror(rc)) : 0;
}

int dp_root_start(const char *root, const char *const *argv, const char *const *env, int out,
                  pid_t *pid, struct sw_err *err)
{
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fds[] = { null, out, out };
    const int rc = start(root, argv, env, fds, pid, err);
    if (null >= 0)
        (void)close(null);
    return rc;
}

int dp_child_wait(pid_t pid, int timeout_ms, int *status)
{
    const int64_t end_ms = sw_monotonic_ms() + timeout_ms;
    for (;;) {
        const pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return 0;
        if (sw_monotonic_ms() >= end_ms)
            return SW_PENDING;
        (void)usleep(CHECK_MS * 1000);
    }
}

char *dp_last_line(int fd)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    if (sw_fd_read(fd, "output", MAX_OUTPUT, &text, &len, NULL) < 0)
        return NULL;
    while (len && (unsigned char)text[len - 1] <= ' ')
        text[--len] = '\0';
    const char *line = strrchr(text, '\n');
    return len ? sw_strdup(line ? line + 1 : text) : NULL;
}

static int run_over(const char *root, const char *const *argv, const int *fds, int timeout_ms,
                    struct sw_err *err)
{
    pid_t pid;
    int status = 0;
    const int rc = start(root, argv, NULL, fds, &pid, err);
    if (rc < 0)
        return rc;
    if (dp_child_wait(pid, timeout_ms, &status) < 0) {
        (void)kill(pid, SIGKILL);
        (void)!dp_child_wait(pid, timeout_ms, &status);
        return sw_err_set(err, SW_PENDING, "%s: no end after %d s", argv[0], timeout_ms / 1000);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    SW_AUTO_CHARS *line = dp_last_line(fds[1]);
    const int code = !WIFEXITED(status)                 ? SW_UNAVAILABLE
                     : WEXITSTATUS(status) == NOT_THERE ? SW_NOTFOUND
                                                        : SW_INVALID;
    return sw_err_set(err, code, "%s in %s: %s", argv[0], root, sw_text_or(line, "failed"));
}

int dp_root_run(const char *root, const char *const *argv, const char *text, int timeout_ms,
                struct sw_err *err)
{
    const int in = sw_file_unnamed(), out = sw_file_unnamed(), fds[] = { in, out, out };
    int rc = in < 0 || out < 0 || sw_fd_fill(in, text, strlen(text)) < 0
                 ? sw_err_set(err, SW_UNAVAILABLE, "no file for %s: %s", argv[0], strerror(errno))
                 : run_over(root, argv, fds, timeout_ms, err);
    if (in >= 0)
        (void)close(in);
    if (out >= 0)
        (void)close(out);
    return rc;
}

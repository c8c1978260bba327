#include "base/spawn.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

extern char **environ;

int sw_spawn(const struct sw_spawn *spawn, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    const char *program = spawn->program ? spawn->program : spawn->argv[0];
    int rc = 0;
    (void)posix_spawn_file_actions_init(&files); /* neither fails in glibc and musl */
    (void)posix_spawnattr_init(&attr);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO && rc == 0; i++)
        if (spawn->fds && spawn->fds[i] >= 0)
            rc = posix_spawn_file_actions_adddup2(&files, spawn->fds[i], i);
    if (rc == 0)
        rc = posix_spawnp(pid, program, &files, &attr, (char *const *)spawn->argv,
                          spawn->env ? spawn->env : environ);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attr);
    return rc;
}

int sw_spawn_over(const char *const *argv, const char *text, size_t len, int out, int log,
                  int *status)
{
    const int in = sw_file_unnamed();
    const int fds[] = { in, out, log };
    pid_t pid;
    int rc = in < 0 || sw_fd_fill(in, text, len) < 0 ? errno : 0;
    if (rc == 0)
        rc = sw_spawn(&(struct sw_spawn){ .argv = argv, .fds = fds }, &pid);
    while (rc == 0 && waitpid(pid, status, 0) < 0)
        rc = errno == EINTR ? 0 : errno;
    if (in >= 0)
        (void)close(in);
    return rc;
}

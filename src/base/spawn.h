#pragma once
/* spawn: other programs as children of this one. */
#include <stddef.h>
#include <sys/types.h>

/** Start a program; argv ends with NULL. It blocks no signal. */
struct sw_spawn {
    const char *program; /* NULL: argv[0]; searched for in $PATH unless there is a slash in it */
    const char *const *argv; /* of at least one */
    char *const *env;        /* ends with NULL; NULL: the environment of this process */
    const int *fds;          /* what becomes its stdin, stdout and stderr; -1: as here */
};

/** @pid: the caller waits for it. @return 0, or an errno: the program does not run */
int sw_spawn(const struct sw_spawn *spawn, pid_t *pid);
/** Run @argv from beginning to end: it reads @text, and writes to the files @out and @log
 * (sw_file_unnamed(), to be read by sw_fd_read()), so that neither side waits for the other. -1: to
 * this process's stdout or stderr. @status: as of waitpid(). @return 0, or an errno: it has not run
 */
int sw_spawn_over(const char *const *argv, const char *text, size_t len, int out, int log,
                  int *status);

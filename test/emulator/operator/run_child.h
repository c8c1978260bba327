#pragma once
/* slipway in a process of its own, against the cluster of the test's; for worlds with a real clock.
 */
#include "run_world.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- processes ---------------------------------------------------------------------------------
 */

struct child {
    pid_t pid;
    FILE *out;
    int status;
};

static inline struct child start(char *const *argv)
{
    const char *program = getenv("SLIPWAY");
    struct child c = { .out = tmpfile() };
    assert_non_null(c.out);
    c.pid = fork();
    assert_true(c.pid >= 0);
    if (c.pid == 0) {
        (void)dup2(fileno(c.out), 1);
        (void)dup2(fileno(c.out), 2);
        (void)execv(program ? program : SW_SOURCE_DIR "/build/test/slipway", argv);
        _exit(127);
    }
    return c;
}
#define START(...) start((char *const[]){ "slipway", __VA_ARGS__, NULL })

/* What it has said so far; the caller's. */
static inline char *said(struct child *c)
{
    (void)fseek(c->out, 0, SEEK_END);
    long len = ftell(c->out);
    char *text = sw_zalloc((size_t)len + 1, 1);
    rewind(c->out);
    size_t n = fread(text, 1, (size_t)len, c->out);
    text[n] = '\0';
    return text;
}

static inline bool has_ended(struct world *w SW_UNUSED, void *arg)
{
    struct child *c = arg;
    if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
        c->pid = 0;
    return c->pid == 0;
}

/* Turn the world until the process has ended; it must with @want. What it said is the caller's. */
static inline char *end_of(struct world *w, struct child *c, int want)
{
    for (int i = 0; i < 3000 && !has_ended(w, c); i++)
        sw_loop_step(w->conn.loop, 10);
    char *text = said(c);
    (void)fclose(c->out);
    if (c->pid) {
        (void)kill(c->pid, SIGKILL);
        fail_msg("it did not end: %s", text);
    }
    int got = WIFEXITED(c->status) ? WEXITSTATUS(c->status) : -WTERMSIG(c->status);
    if (got != want)
        fail_msg("exit %d: %s", got, text);
    return text;
}

/* Write the kubeconfig of the world's cluster to @path, whose end becomes a name of its own. */
static inline void write_config(struct world *w, char *path)
{
    SW_ERR(err);
    SW_AUTO_CHARS *text = sw_emulator_kubeconfig(w->conn.emulator);
    (void)strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(sw_file_write(path, text, strlen(text), &err), 0);
}

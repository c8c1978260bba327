#include "cli/recipe/post_renderer.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"
#include "data/flags/flags.h"

static int read_end(const char *program, int status, struct sw_err *err)
{
    if (WIFSIGNALED(status))
        return sw_err_set(err, SW_UNAVAILABLE, "--post-renderer: %s ended by signal %d", program,
                          WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return sw_err_set(err, SW_UNAVAILABLE, "--post-renderer: %s ended with exit code %d",
                          program, WEXITSTATUS(status));
    return 0;
}

int sw_post_render(const char *program, const struct sw_list_arg *args, const char *text,
                   size_t len, char **out, size_t *out_len, struct sw_err *err)
{
    const int to = sw_file_unnamed();
    int status;
    if (to < 0)
        return sw_err_set(err, SW_UNAVAILABLE, "--post-renderer: %s", strerror(errno));
    const char **argv = sw_zalloc(args->n + 2, sizeof *argv);
    argv[0] = program;
    for (size_t i = 0; i < args->n; i++)
        argv[i + 1] = args->items[i];
    const int code = sw_spawn_over(argv, text, len, to, -1, &status);
    int rc = code ? sw_err_set(err, code == ENOENT ? SW_NOTFOUND : SW_UNAVAILABLE,
                               "--post-renderer: %s: %s", program, strerror(code))
                  : read_end(program, status, err);
    if (rc == 0)
        rc = sw_fd_read(to, "--post-renderer", SIZE_MAX, out, out_len, err);
    free(argv);
    (void)close(to);
    return rc;
}

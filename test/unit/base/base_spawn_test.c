/* Other programs as children: what they read, where they write, and how they end. */
#include "base/spawn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#include <cmocka.h>

static char *read_file(int fd)
{
    char *text;
    size_t len;
    SW_ERR(err);
    assert_int_equal(sw_fd_read(fd, "the child", 1 << 20, &text, &len, &err), 0);
    (void)close(fd);
    return text;
}

static void test_over(void **state SW_UNUSED)
{
    static const char *const argv[] = { "sh", "-c", "tr a-z A-Z; echo heard >&2; exit 3", NULL };
    const int out = sw_file_unnamed(), log = sw_file_unnamed();
    int status;
    assert_int_equal(sw_spawn_over(argv, "text", 4, out, log, &status), 0);
    assert_int_equal(WEXITSTATUS(status), 3);
    SW_AUTO_CHARS *said = read_file(out), *logged = read_file(log);
    assert_string_equal(said, "TEXT");
    assert_string_equal(logged, "heard\n");
}

static void test_missing(void **state SW_UNUSED)
{
    static const char *const argv[] = { "slipway-no-such-program", NULL };
    int status;
    assert_int_equal(sw_spawn_over(argv, "", 0, -1, -1, &status), ENOENT);
}

/* The environment is the one given, and the name may be another than the program's. */
static void test_environment(void **state SW_UNUSED)
{
    static const char *const argv[] = { "named", "-c", "echo $0 $GIVEN $HOME", NULL };
    char given[] = "GIVEN=this";
    char *const env[] = { given, NULL };
    const int out = sw_file_unnamed();
    const int fds[] = { -1, out, -1 };
    pid_t pid;
    assert_int_equal(sw_spawn(&(struct sw_spawn){ "/bin/sh", argv, env, fds }, &pid), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    SW_AUTO_CHARS *said = read_file(out);
    assert_string_equal(said, "named this\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_over),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What every other test leans on: errors that carry words, arenas, whole files, SRO's hash. */
#include "base/base.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void error_is_wrapped_from_the_inside_out(void **state)
{
    (void)state;
    SW_ERR(err);
    sw_err_set(&err, SW_INVALID, "'many' is not a number");
    assert_int_equal(sw_err_wrap(&err, SW_INVALID, "values.yaml:%d", 12), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "values.yaml:12: 'many' is not a number");
}

static void error_may_quote_itself(void **state)
{
    (void)state;
    SW_ERR(err);
    sw_err_set(&err, SW_INVALID, "a");
    sw_err_set(&err, SW_GONE, "%s b", err.text);
    assert_string_equal(err.text, "a b");
}

static void error_without_words_says_its_code(void **state)
{
    (void)state;
    struct sw_err err = { .code = SW_FORBIDDEN };
    assert_string_equal(sw_err_text(&err), "forbidden");
    assert_string_equal(sw_code_name(-99), "unknown");
}

static void arena_with_a_limit(void **state)
{
    (void)state;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    assert_true(sw_arena_has_room(arena, SIZE_MAX));
    assert_int_equal(sw_arena_limit(arena, 1000), SIZE_MAX);
    (void)sw_arena_alloc(arena, 500);
    assert_true(sw_arena_has_room(arena, 400));
    assert_false(sw_arena_is_over(arena));
    assert_false(sw_arena_has_room(arena, 600)); /* is remembered */
    assert_true(sw_arena_is_over(arena));
    assert_int_equal(sw_arena_limit(arena, 2000), 1000);
    assert_false(sw_arena_is_over(arena));
    (void)sw_arena_alloc(arena, 5000); /* never fails */
    assert_true(sw_arena_is_over(arena));
    sw_arena_reset(arena);
    assert_false(sw_arena_is_over(arena));
    assert_true(sw_arena_has_room(arena, 2000));
    assert_false(sw_arena_has_room(arena, 2001));
}

static void arena_gives_zeroed_memory_of_any_size(void **state)
{
    (void)state;
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    for (int round = 0; round < 2; round++) {
        for (size_t len = 0; len < 40000; len = len * 2 + 1) {
            char *p = sw_arena_alloc(arena, len);
            for (size_t i = 0; i < len; i++)
                assert_int_equal(p[i], 0);
            memset(p, 0xff, len);
        }
        sw_arena_reset(arena);
    }
    assert_string_equal(sw_arena_printf(arena, "%d-%s", 7, "x"), "7-x");
}

static void hash_is_go_fnv64a(void **state)
{
    (void)state;
    /* echo -n foobar through Go's fnv.New64a, from the FNV test vectors */
    assert_true(sw_fnv64a("foobar", 6) == 0x85944171f73967e8u);
    assert_true(sw_fnv64a("", 0) == 0xcbf29ce484222325u);
}

static void file_is_written_whole_and_read_back(void **state)
{
    (void)state;
    char path[] = "/tmp/slipway-base-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(chmod(path, 0666), 0);
    SW_ERR(err);
    assert_int_equal(sw_file_write(path, "a\0b", 3, &err), 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600); /* values may be secret */
    char *text;
    size_t len;
    assert_int_equal(sw_file_read(path, 100, &text, &len, &err), 0);
    assert_int_equal(len, 3);
    assert_memory_equal(text, "a\0b", 4);
    free(text);
    assert_int_equal(sw_file_read(path, 2, &text, &len, &err), SW_INVALID);
    assert_non_null(strstr(err.text, "larger than 2 bytes"));
    (void)unlink(path);
}

static void file_that_is_rewritten_keeps_its_mode(void **state)
{
    (void)state;
    char dir[] = "/tmp/slipway-base-XXXXXX";
    assert_non_null(mkdtemp(dir));
    SW_AUTO_CHARS *path = sw_printf("%s/f", dir);
    struct stat st;
    mode_t mask = umask(027);
    assert_int_equal(sw_file_rewrite(path, "a", 1, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0664), 0);
    assert_int_equal(sw_file_rewrite(path, "b", 1, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0664);
    assert_int_equal(umask(mask), 027);
    (void)unlink(path);
    (void)rmdir(dir);
}

/* kill -9 in the middle of a write: nothing piles up beside the file. */
static void file_that_is_rewritten_has_nothing_of_killed_writers_beside_it(void **state)
{
    (void)state;
    char dir[] = "/tmp/slipway-base-XXXXXX";
    assert_non_null(mkdtemp(dir));
    static const char *const names[] = { ".f.slipway-killed", ".f.slipway-living",
                                         "f.slipway-killed", ".f.slipway-notes.txt",
                                         ".g.slipway-killed" };
    SW_AUTO_CHARS *path = sw_printf("%s/f", dir);
    int living = -1;
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *other = sw_printf("%s/%s", dir, names[i]);
        int fd = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        if (i == 1)
            living = fd;
        else
            (void)close(fd);
    }
    assert_int_equal(flock(living, LOCK_EX), 0);
    assert_int_equal(sw_file_rewrite(path, "a", 1, NULL), 0);
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *other = sw_printf("%s/%s", dir, names[i]);
        assert_int_equal(access(other, F_OK), i == 0 ? -1 : 0);
        (void)unlink(other);
    }
    (void)close(living);
    (void)unlink(path);
    assert_int_equal(rmdir(dir), 0); /* it has left nothing of its own */
}

static void file_that_is_missing_or_a_folder_is_named(void **state)
{
    (void)state;
    SW_ERR(err);
    char *text;
    size_t len;
    assert_int_equal(sw_file_read("/nonexistent/x", 9, &text, &len, &err), SW_NOTFOUND);
    assert_non_null(strstr(err.text, "/nonexistent/x"));
    assert_int_equal(sw_file_read("/tmp", 9, &text, &len, &err), SW_INVALID);
    assert_string_equal(err.text, "/tmp: is a directory");
}

static void time_is_printed_as_kubernetes_does(void **state)
{
    (void)state;
    char buf[21];
    assert_string_equal(sw_time_rfc3339(1767323045999, buf), "2026-01-02T03:04:05Z");
    assert_string_equal(sw_time_rfc3339(-1, buf), "1969-12-31T23:59:59Z");
    assert_string_equal(sw_time_rfc3339(-47892898554000, buf), "0452-05-02T01:04:06Z");
    assert_string_equal(sw_time_rfc3339(INT64_MIN, buf), "1970-01-01T00:00:00Z");
    assert_string_equal(sw_time_rfc3339(INT64_MAX, buf), "1970-01-01T00:00:00Z");
}

static void slashes_at_the_end_are_cut_but_for_the_least(void **state)
{
    (void)state;
    assert_int_equal(sw_before_slashes("a/b//", 5, 0), 3);
    assert_int_equal(sw_before_slashes("//", 2, 1), 1);
    assert_int_equal(sw_before_slashes("//", 2, 0), 0);
    assert_int_equal(sw_before_slashes("", 0, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slashes_at_the_end_are_cut_but_for_the_least),
        cmocka_unit_test(error_is_wrapped_from_the_inside_out),
        cmocka_unit_test(error_may_quote_itself),
        cmocka_unit_test(error_without_words_says_its_code),
        cmocka_unit_test(arena_gives_zeroed_memory_of_any_size),
        cmocka_unit_test(arena_with_a_limit),
        cmocka_unit_test(hash_is_go_fnv64a),
        cmocka_unit_test(file_is_written_whole_and_read_back),
        cmocka_unit_test(file_that_is_rewritten_keeps_its_mode),
        cmocka_unit_test(file_that_is_rewritten_has_nothing_of_killed_writers_beside_it),
        cmocka_unit_test(file_that_is_missing_or_a_folder_is_named),
        cmocka_unit_test(time_is_printed_as_kubernetes_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

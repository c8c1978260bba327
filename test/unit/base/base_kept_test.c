/* Bytes that are kept: small ones in memory, large ones in files, and what of them counts. */
#include "base/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE = 4 << 20 };

/* Of the pages at @bytes, how many are mapped by this process. */
static size_t resident_kib(const void *bytes)
{
    char line[256];
    unsigned long begin, end;
    size_t kib = 0;
    bool here = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2 && strchr(line, '-') < strchr(line, ' '))
            here = (unsigned long)bytes >= begin && (unsigned long)bytes < end;
        else if (here && sscanf(line, "Rss: %zu", &kib) == 1)
            break;
    }
    (void)fclose(f);
    return kib;
}

static char *make(size_t len)
{
    char *text = sw_alloc(len);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 26);
    return text;
}

static void test_kept(void **state SW_UNUSED)
{
    static const size_t lens[] = { 0, 1, 16 << 10, LARGE, LARGE + 1 };
    for (size_t i = 0; i < SW_COUNT(lens); i++) {
        SW_AUTO_CHARS *text = make(lens[i] + 1);
        struct sw_kept *k = sw_kept_new(text, lens[i]);
        assert_int_equal(sw_kept_len(k), lens[i]);
        assert_true(sw_kept_equal(k, text, lens[i]));
        assert_false(sw_kept_equal(k, text, lens[i] + 1));
        text[lens[i] / 2] = '?';
        assert_true(lens[i] == 0 || !sw_kept_equal(k, text, lens[i]));
        assert_ptr_equal(sw_kept_ref(k), k);
        sw_kept_free(k);
        sw_kept_rest(k);
        assert_int_equal(sw_kept_len(k), lens[i]); /* the other reference */
        sw_kept_free(k);
    }
    sw_kept_free(NULL);
}

static void test_rests(void **state SW_UNUSED)
{
    SW_AUTO_CHARS *text = make(LARGE);
    SW_AUTO(sw_kept) *k = sw_kept_new(text, LARGE);
    if (!sw_kept_is_away(k))
        skip(); /* no file without a name here */
    assert_true(sw_kept_equal(k, text, LARGE));
    assert_true(resident_kib(sw_kept_bytes(k)) < LARGE >> 12);
    assert_memory_equal(sw_kept_bytes(k), text, LARGE);
    assert_true(resident_kib(sw_kept_bytes(k)) >= LARGE >> 10);
    sw_kept_rest_range(k, sw_kept_bytes(k), LARGE / 2);
    assert_true(resident_kib(sw_kept_bytes(k)) <= LARGE >> 11);
    assert_memory_equal(sw_kept_bytes(k), text, LARGE);
}

static void test_no_place(void **state SW_UNUSED)
{
    SW_AUTO_CHARS *text = make(LARGE);
    assert_int_equal(setenv("TMPDIR", "/nowhere", 1), 0);
    SW_AUTO(sw_kept) *k = sw_kept_new(text, LARGE);
    assert_true(sw_kept_equal(k, text, LARGE));
    assert_memory_equal(sw_kept_bytes(k), text, LARGE);
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

static void test_written_by_others(void **state SW_UNUSED)
{
    struct sw_kept *k = NULL;
    SW_ERR(err);
    int fd = sw_file_unnamed(), ends[2];
    if (fd < 0)
        skip();
    assert_int_equal(write(fd, "hello", 5), 5);
    assert_int_equal(sw_kept_take_file(fd, 5, &k, &err), 0);
    assert_true(sw_kept_equal(k, "hello", 5));
    sw_kept_skip(k, 2);
    assert_true(sw_kept_equal(k, "llo", 3));
    sw_kept_skip(k, 3);
    assert_int_equal(sw_kept_len(k), 0);
    sw_kept_rest(k);
    sw_kept_free(k);
    fd = sw_file_unnamed();
    assert_int_equal(write(fd, "hello!", 6), 6);
    assert_int_equal(sw_kept_take_file(fd, 5, &k, &err), SW_INVALID);
    assert_int_equal(sw_kept_take_file(sw_file_unnamed(), 5, &k, &err), 0);
    assert_int_equal(sw_kept_len(k), 0);
    sw_kept_free(k);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sw_kept_take_file(ends[0], 5, &k, &err), SW_UNAVAILABLE);
    (void)close(ends[1]);
}

static void test_skip(void **state SW_UNUSED)
{
    SW_AUTO_CHARS *text = make(LARGE);
    SW_AUTO(sw_kept) *k = sw_kept_new(text, LARGE), *small = sw_kept_new("small", 5);
    sw_kept_skip(k, 5001); /* of a page a part */
    assert_true(sw_kept_equal(k, text + 5001, LARGE - 5001));
    assert_memory_equal(sw_kept_bytes(k), text + 5001, LARGE - 5001);
    sw_kept_skip(small, 4);
    assert_true(sw_kept_equal(small, "l", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),     cmocka_unit_test(test_rests),
        cmocka_unit_test(test_no_place), cmocka_unit_test(test_written_by_others),
        cmocka_unit_test(test_skip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

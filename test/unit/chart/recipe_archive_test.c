/* Packaged charts: what is in them, and what they may not do. */
#include "recipe_util.h"

#include <archive.h>
#include <archive_entry.h>

struct packed {
    char bytes[1 << 20];
    size_t len;
};

static struct archive *start(struct packed *p, const char *filter)
{
    struct archive *a = archive_write_new();
    assert_int_equal(archive_write_set_format_pax_restricted(a), ARCHIVE_OK);
    if (!sw_streq(filter, "none"))
        assert_int_equal(archive_write_add_filter_by_name(a, filter), ARCHIVE_OK);
    p->len = 0;
    assert_int_equal(archive_write_open_memory(a, p->bytes, sizeof p->bytes, &p->len), ARCHIVE_OK);
    return a;
}

static void add_entry(struct archive *a, const char *name, unsigned type, const char *link,
                      const char *text, size_t len)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, type == AE_IFREG ? (int64_t)len : 0);
    if (link && type == AE_IFLNK)
        archive_entry_set_symlink(e, link);
    else if (link)
        archive_entry_set_hardlink(e, link);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    if (type == AE_IFREG && !link)
        assert_int_equal(archive_write_data(a, text, len), len);
    archive_entry_free(e);
}

static void add_file(struct archive *a, const char *name, const char *text)
{
    add_entry(a, name, AE_IFREG, NULL, text, strlen(text));
}

static void finish(struct archive *a)
{
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
}

static struct packed packed; /* too large for the stack */

static struct archive *start_chart(const char *filter)
{
    struct archive *a = start(&packed, filter);
    add_file(a, "top/Chart.yaml", "name: top\nversion: 1.0.0\n");
    return a;
}

static void expect_refused(const struct sw_recipe_opts *opts, const char *words)
{
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(sw_recipe_from_archive("top.tgz", packed.bytes, packed.len, opts, &r, &err),
                     SW_INVALID);
    assert_null(r);
    if (!strstr(sw_err_text(&err), words) || strncmp(sw_err_text(&err), "top.tgz", 7) != 0)
        fail_msg("'%s' does not contain '%s'", sw_err_text(&err), words);
}

static void expect_opens(void)
{
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    if (sw_recipe_from_archive("top.tgz", packed.bytes, packed.len, NULL, &r, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# hi");
}

static void archives_are_read_however_they_are_packed(SW_UNUSED void **state)
{
    static const char *const filters[] = { "gzip", "zstd", "none" };
    for (size_t i = 0; i < SW_COUNT(filters); i++) {
        struct archive *a = start_chart(filters[i]);
        add_entry(a, "top/templates/", AE_IFDIR, NULL, NULL, 0);
        add_file(a, "top/./templates/t.yaml", "# hi");
        finish(a);
        expect_opens();
    }
}

static void a_packed_subchart_is_unpacked(SW_UNUSED void **state)
{
    struct archive *a = start(&packed, "gzip");
    add_file(a, "sub/Chart.yaml", "name: sub\nversion: 1.0.0\n");
    add_file(a, "sub/templates/t.yaml", "# hi");
    finish(a);
    struct sw_recipe_file files[] = { { "Chart.yaml", "name: top\nversion: 1.0.0\n", 25 },
                                      { "charts/sub-1.0.0.tgz", packed.bytes, packed.len } };
    SW_AUTO(sw_recipe) *r = NULL;
    assert_int_equal(sw_recipe_from_files("t", files, 2, NULL, &r, NULL), 0);
    expect_graph(r, NULL, "sub");
}

static void a_bomb_in_a_packed_subchart_counts_for_the_whole(SW_UNUSED void **state)
{
    static char zeros[1 << 20];
    struct archive *a = start(&packed, "gzip");
    add_file(a, "sub/Chart.yaml", "name: sub\nversion: 1.0.0\n");
    add_entry(a, "sub/zeros", AE_IFREG, NULL, zeros, sizeof zeros);
    finish(a);
    struct sw_recipe_file files[] = { { "Chart.yaml", "name: top\nversion: 1.0.0\n", 25 },
                                      { "charts/sub.tgz", packed.bytes, packed.len } };
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    struct sw_recipe_opts opts = { .max_bytes = 1 << 20 };
    assert_int_equal(sw_recipe_from_files("t", files, 2, &opts, &r, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "t/charts/sub.tgz: zeros: unpacks to more than"));
}

static void paths_that_lead_outside_are_refused(SW_UNUSED void **state)
{
    static const struct {
        const char *name, *words;
    } cases[] = {
        { "top/../../etc/passwd", "leads outside the archive" },
        { "top/templates/../../../x", "leads outside the archive" },
        { "../x", "leads outside the archive" },
        { "top\\..\\x", "leads outside the archive" },
        { "/etc/passwd", "an absolute path" },
        { "loose", "not in the chart's folder" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        struct archive *a = start_chart("gzip");
        add_file(a, cases[i].name, "x");
        finish(a);
        expect_refused(NULL, cases[i].words);
    }
}

static void links_are_refused(SW_UNUSED void **state)
{
    struct archive *a = start_chart("gzip");
    add_entry(a, "top/templates/passwd", AE_IFLNK, "/etc/passwd", NULL, 0);
    finish(a);
    expect_refused(NULL, "'top/templates/passwd': a link");
    a = start_chart("gzip");
    add_entry(a, "top/copy", AE_IFREG, "top/Chart.yaml", NULL, 0);
    finish(a);
    expect_refused(NULL, "'top/copy': a link");
    a = start_chart("gzip");
    add_entry(a, "top/pipe", AE_IFIFO, NULL, NULL, 0);
    finish(a);
    expect_refused(NULL, "'top/pipe': not a file");
}

static void a_gzip_bomb_is_refused(SW_UNUSED void **state)
{
    static char zeros[1 << 20];
    struct archive *a = start_chart("gzip");
    for (int i = 0; i < 70; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "top/zeros%d", i);
        add_entry(a, name, AE_IFREG, NULL, zeros, sizeof zeros);
    }
    finish(a);
    assert_true(packed.len < 1 << 20);
    expect_refused(NULL, "unpacks to more than 67108864 bytes in all");
}

static void too_many_files_are_refused(SW_UNUSED void **state)
{
    struct archive *a = start_chart("gzip");
    for (int i = 0; i < 10000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "top/f%d", i);
        add_file(a, name, "");
    }
    finish(a);
    expect_refused(NULL, "more than 10000 files");
}

static void too_many_folders_are_refused(SW_UNUSED void **state)
{
    struct archive *a = start_chart("gzip");
    for (int i = 0; i < 300; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "top/d%d/", i);
        add_entry(a, name, AE_IFDIR, NULL, NULL, 0);
    }
    finish(a);
    struct sw_recipe_opts opts = { .max_files = 100 };
    expect_refused(&opts, "more than 100 files");
}

static void damaged_archives_are_refused(SW_UNUSED void **state)
{
    struct archive *a = start_chart("gzip");
    char text[5000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + (i * i * 7 + i / 3) % 26);
    add_entry(a, "top/big", AE_IFREG, NULL, text, sizeof text);
    finish(a);
    size_t whole = packed.len;
    packed.len = whole / 2;
    expect_refused(NULL, "");
    packed.len = 5;
    expect_refused(NULL, "not a packaged chart");
    memset(packed.bytes, 'x', 2000);
    packed.len = 2000;
    expect_refused(NULL, "not a packaged chart");
    packed.len = 0;
    expect_refused(NULL, "");
}

static void the_same_name_twice_is_refused(SW_UNUSED void **state)
{
    struct archive *a = start_chart("gzip");
    add_file(a, "other/Chart.yaml", "name: evil\nversion: 1.0.0\n");
    finish(a);
    expect_refused(NULL, "Chart.yaml: a file that is there twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_are_read_however_they_are_packed),
        cmocka_unit_test(a_packed_subchart_is_unpacked),
        cmocka_unit_test(a_bomb_in_a_packed_subchart_counts_for_the_whole),
        cmocka_unit_test(paths_that_lead_outside_are_refused),
        cmocka_unit_test(links_are_refused),
        cmocka_unit_test(a_gzip_bomb_is_refused),
        cmocka_unit_test(too_many_files_are_refused),
        cmocka_unit_test(too_many_folders_are_refused),
        cmocka_unit_test(damaged_archives_are_refused),
        cmocka_unit_test(the_same_name_twice_is_refused),
    };
    return cmocka_run_group_tests_name("recipe_archive", tests, NULL, NULL);
}

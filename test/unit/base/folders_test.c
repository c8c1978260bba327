/* Files that one who is not trusted names: only below certain folders, and nothing but files. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/folders.h"

/* root/in/{file,sub/file,links}, root/out/file */
struct world {
    char root[64];
    struct sw_folders *folders;
};

static char *path_of(const struct world *w, const char *name)
{
    return sw_printf("%s/%s", w->root, name);
}

static void put(const struct world *w, const char *name, const char *text)
{
    SW_AUTO_CHARS *path = path_of(w, name);
    assert_int_equal(sw_file_write(path, text, strlen(text), NULL), 0);
}

static void put_dir(const struct world *w, const char *name)
{
    SW_AUTO_CHARS *path = path_of(w, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void put_link(const struct world *w, const char *name, const char *target)
{
    SW_AUTO_CHARS *path = path_of(w, name);
    assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
    static struct world w;
    (void)snprintf(w.root, sizeof w.root, "/tmp/folders.XXXXXX");
    assert_non_null(mkdtemp(w.root));
    put_dir(&w, "in");
    put_dir(&w, "in/sub");
    put_dir(&w, "out");
    put_dir(&w, "inner");
    put(&w, "in/file", "one");
    put(&w, "in/sub/file", "two");
    put(&w, "out/file", "secret");
    put(&w, "inner/file", "secret");
    put_link(&w, "in/near", "sub/../file");
    put_link(&w, "in/sub/up", "../file");
    put_link(&w, "in/dir", "sub");
    put_link(&w, "in/far", "../out/file");
    put_link(&w, "in/gone", "../out/none");
    put_link(&w, "in/absolute", "/etc/passwd");
    put_link(&w, "in/outdir", "../out");
    put_link(&w, "in/round", "round");
    SW_AUTO_CHARS *fifo = path_of(&w, "in/fifo"), *in = path_of(&w, "in/");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    SW_AUTO_CHARS *list = sw_printf("/nowhere,%s", in);
    assert_int_equal(sw_folders_new(list, &w.folders, NULL), 0);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    SW_AUTO_CHARS *command = sw_printf("rm -r '%s'", w->root);
    sw_folders_free(w->folders);
    return system(command);
}

static int read_it(const struct world *w, const char *name, char **text, struct sw_err *err)
{
    SW_AUTO_CHARS *path = path_of(w, name);
    size_t len;
    return sw_folders_read(w->folders, path, 100, text, &len, err);
}

static void files_below_are_read(void **state)
{
    static const struct {
        const char *name, *text;
    } rows[] = { { "in/file", "one" },         { "in/sub/file", "two" },
                 { "in//sub/./file", "two" },  { "in/sub/../file", "one" },
                 { "in/near", "one" },         { "in/sub/up", "one" },
                 { "in/dir/file", "two" },     { "in/../in/file", "one" },
                 { "out/../in/./file", "one" } };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *text = NULL;
        SW_ERR(err);
        if (read_it(*state, rows[i].name, &text, &err) < 0)
            fail_msg("%s: %s", rows[i].name, sw_err_text(&err));
        assert_string_equal(text, rows[i].text);
    }
}

static void what_is_elsewhere_is_refused_in_the_same_words(void **state)
{
    static const char *const names[] = {
        "out/file",         "out/none", "in/../out/file", "in/../out/none",
        "in/far",           "in/gone",  "in/absolute",    "in/outdir/file",
        "in/outdir/none/x", "in/..",    "inner/file",     "in/sub/../../inner/file"
    };
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *text = NULL, *path = path_of(*state, names[i]);
        SW_AUTO_CHARS *words = sw_printf(
            "%s: files are read below the folders of --allowed-files alone", path);
        SW_ERR(err);
        assert_int_equal(read_it(*state, names[i], &text, &err), SW_FORBIDDEN);
        assert_string_equal(sw_err_text(&err), words);
    }
}

static void no_more_than_folders_and_files_is_opened(void **state)
{
    SW_AUTO_CHARS *text = NULL;
    SW_ERR(err);
    assert_int_equal(read_it(*state, "in/fifo", &text, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "not a regular file"));
    assert_int_equal(read_it(*state, "in/round", &text, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "too many links"));
    assert_int_equal(read_it(*state, "in/sub", &text, &err), SW_INVALID);
    assert_int_equal(read_it(*state, "in/none", &text, &err), SW_NOTFOUND);
    assert_int_equal(read_it(*state, "in/file/x", &text, &err), SW_NOTFOUND);
}

static void no_descriptor_is_left(void **state)
{
    int before = dup(0), after;
    (void)close(before);
    files_below_are_read(state);
    what_is_elsewhere_is_refused_in_the_same_words(state);
    no_more_than_folders_and_files_is_opened(state);
    after = dup(0);
    (void)close(after);
    assert_int_equal(after, before);
}

/* A folder that becomes a link to elsewhere, or goes elsewhere, while paths through it are read. */
static void a_folder_that_changes_leads_nowhere_else(void **state)
{
    struct world *w = *state;
    enum { N_READS = 5000, MAX_READS = 1000000 /* until the other process has run */ };
    int n_read = 0, n_missed = 0;
    put_dir(w, "in/real");
    put(w, "in/real/file", "inside");
    put_link(w, "in/other", "../out");
    SW_AUTO_CHARS *real = path_of(w, "in/real"), *other = path_of(w, "in/other");
    SW_AUTO_CHARS *away = path_of(w, "out/moved"), *file = path_of(w, "in/real/file");
    const pid_t pid = fork();
    if (pid == 0)
        for (;;) {
            (void)renameat2(AT_FDCWD, real, AT_FDCWD, other, RENAME_EXCHANGE);
            (void)renameat2(AT_FDCWD, real, AT_FDCWD, other, RENAME_EXCHANGE);
            (void)rename(real, away);
            (void)rename(away, real);
        }
    for (int i = 0; i < N_READS || (i < MAX_READS && (!n_read || !n_missed)); i++) {
        SW_AUTO_CHARS *text = NULL;
        size_t len;
        if (sw_folders_read(w->folders, file, 100, &text, &len, NULL) < 0) {
            n_missed++;
            continue;
        }
        assert_string_equal(text, "inside");
        n_read++;
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(n_read > 0 && n_missed > 0);
}

static void a_list_has_absolute_paths(void **state SW_UNUSED)
{
    struct sw_folders *f = NULL;
    SW_ERR(err);
    assert_int_equal(sw_folders_new("/a,b", &f, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "'b' is not an absolute path"));
    assert_int_equal(sw_folders_new("/a//,,/,/b", &f, &err), 0);
    SW_AUTO_CHARS *text = sw_folders_text(f);
    assert_string_equal(text, "/a,/,/b");
    sw_folders_free(f);
    assert_int_equal(sw_folders_new("", &f, &err), 0);
    assert_int_equal(sw_folders_open(f, "/etc/passwd", &err), SW_FORBIDDEN);
    sw_folders_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_below_are_read),
        cmocka_unit_test(what_is_elsewhere_is_refused_in_the_same_words),
        cmocka_unit_test(no_more_than_folders_and_files_is_opened),
        cmocka_unit_test(no_descriptor_is_left),
        cmocka_unit_test(a_folder_that_changes_leads_nowhere_else),
        cmocka_unit_test(a_list_has_absolute_paths),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

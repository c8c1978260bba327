/* Addresses, indexes and the cache: what of fetching needs no server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "chart/fetch/common/cache.h"
#include "chart/fetch/fetch.h"
#include "chart/fetch/git/giturl.h"
#include "chart/fetch/helper.h"
#include "chart/fetch/index.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/url.h"

/* ---- git URLs ---------------------------------------------------------------------------------
 */

static void git_urls_are_taken_apart(void **state SW_UNUSED)
{
    static const struct {
        const char *text, *remote, *path, *ref, *host;
    } rows[] = {
        { "git+https://host/g/repo.git//charts/a?ref=v1.2", "https://host/g/repo.git", "charts/a",
          "v1.2", "host" },
        { "git+https://host:8443/repo", "https://host:8443/repo", "", "", "host:8443" },
        { "git+https://host/repo?ref=feature/x", "https://host/repo", "", "feature/x", "host" },
        { "git+https://host/repo?path=a/b&ref=main", "https://host/repo", "a/b", "main", "host" },
        { "git+https://host/repo//a/./b//c/", "https://host/repo", "a/b/c", "", "host" },
        { "git+https://host/repo//a/../b", "https://host/repo", "b", "", "host" },
        { "git+https://u:p%40x@host/repo", "https://host/repo", "", "", "host" },
        { "git+ssh://git@host/repo.git//a", "ssh://git@host/repo.git", "a", "", "host" },
        { "git+file:///srv/repo//a?ref=0123456789012345678901234567890123456789", "/srv/repo", "a",
          "0123456789012345678901234567890123456789", "" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_git_url url;
        SW_ERR(err);
        if (sw_git_url_parse(rows[i].text, &url, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        assert_string_equal(url.remote, rows[i].remote);
        assert_string_equal(url.path, rows[i].path);
        assert_string_equal(url.ref, rows[i].ref);
        assert_string_equal(url.host, rows[i].host);
        sw_git_url_done(&url);
    }
}

static void a_password_is_taken_out_of_a_git_url(void **state SW_UNUSED)
{
    struct sw_git_url url;
    SW_ERR(err);
    assert_int_equal(sw_git_url_parse("git+https://me:a%3Ab@host/repo//c", &url, &err), 0);
    assert_string_equal(url.username, "me");
    assert_string_equal(url.password, "a:b");
    SW_AUTO_CHARS *text = sw_git_url_text(&url, url.path, "v1");
    assert_string_equal(text, "git+https://host/repo//c?ref=v1");
    sw_git_url_done(&url);
}

static void bad_git_urls_are_refused(void **state SW_UNUSED)
{
    static const char *const bad[] = {
        "git+https://",
        "git+https:///repo",
        "git+https://host",
        "git+https://host/",
        "git+https://host/repo//..",
        "git+https://host/repo//a/../../b",
        "git+https://host/repo?branch=x",
        "git+https://host/repo?ref",
        "git+https://host/repo?ref=a&ref=b",
        "git+https://host/repo?ref=--upload-pack=x",
        "git+https://-host/repo",
        "git+https://u:p@/repo",
        "git+https://host/repo?s3cret",
        "git+https://host/repo?token=s3cret",
        "git+https://u:s3cret@host/repo//..",
        "git+ssh://git@-oProxyCommand=x/repo",
        "git+https://host/repo?ref=%zz",
        "git+https://host/repo?ref=a%00b",
        "git+https://host/repo?ref=a%0ab",
        "git+file://srv",
        "git+ftp://host/repo",
        "https://host/repo",
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        struct sw_git_url url;
        SW_ERR(err);
        if (sw_git_url_parse(bad[i], &url, &err) != SW_INVALID)
            fail_msg("'%s' was taken", bad[i]);
        SW_AUTO_CHARS *shown = sw_url_shown(bad[i]);
        if (!strstr(sw_err_text(&err), shown))
            fail_msg("'%s' is not in: %s", shown, sw_err_text(&err));
        if (strstr(sw_err_text(&err), "s3cret"))
            fail_msg("%s", sw_err_text(&err));
    }
}

/* ---- indexes ----------------------------------------------------------------------------------
 */

static const char index_text[] =
    "apiVersion: v1\n"
    "entries:\n"
    "  driver:\n"
    "  - {name: driver, version: 1.2.0, urls: [driver-1.2.0.tgz], digest: abc}\n"
    "  - {name: driver, version: 2.0.0-rc.1, urls: [c/driver-2.0.0-rc.1.tgz]}\n"
    "  - {name: driver, version: 1.10.0, urls: ['https://cdn.example/driver-1.10.0.tgz']}\n"
    "  - {name: driver, version: not-one, urls: [x.tgz]}\n"
    "  - {name: driver, version: v1.3.0, urls: []}\n"
    "  - {name: driver, version: 0.9.0, urls: [y.tgz], digest: 12345678}\n"
    "  empty: []\n";

static struct json_object *parse_index(void)
{
    struct json_object *index = NULL;
    SW_ERR(err);
    if (sw_index_parse("index.yaml", index_text, strlen(index_text), &index, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return index;
}

static void an_index_gives_the_version_that_helm_would(void **state SW_UNUSED)
{
    static const struct {
        const char *want, *version;
    } rows[] = {
        { "", "1.10.0" },     { NULL, "1.10.0" },           { "*", "1.10.0" },
        { "1.2.0", "1.2.0" }, { "^1", "1.10.0" },           { "~1.2", "1.2.0" },
        { "<1.3", "1.2.0" },  { ">1.0.0-0", "2.0.0-rc.1" }, { "2.0.0-rc.1", "2.0.0-rc.1" },
    };
    SW_AUTO_JSON *index = parse_index();
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_index_entry entry;
        SW_ERR(err);
        if (sw_index_find(index, "driver", rows[i].want, &entry, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        assert_string_equal(entry.version, rows[i].version);
    }
}

static void an_index_says_what_is_missing(void **state SW_UNUSED)
{
    static const struct {
        const char *name, *version, *words;
        int code;
    } rows[] = {
        { "other", "", "there is no chart 'other'", SW_NOTFOUND },
        { "empty", "", "there is no chart 'empty'", SW_NOTFOUND },
        { "driver", "^3", "there is no version '^3' of chart 'driver' (there are 1.2.0, 2.0.0-rc.1",
          SW_NOTFOUND },
        { "driver", "v1.3.0", "driver v1.3.0: the index has no URL for it", SW_INVALID },
        { "driver", "0.9.0", "its digest is no text", SW_INVALID },
        { "driver", "no version", "there is no version", SW_NOTFOUND },
    };
    SW_AUTO_JSON *index = parse_index();
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_index_entry entry;
        SW_ERR(err);
        assert_int_equal(sw_index_find(index, rows[i].name, rows[i].version, &entry, &err),
                         rows[i].code);
        if (!strstr(sw_err_text(&err), rows[i].words))
            fail_msg("'%s' does not contain '%s'", sw_err_text(&err), rows[i].words);
    }
}

static void what_is_no_index_is_refused(void **state SW_UNUSED)
{
    static const char *const bad[] = { "",
                                       "[]",
                                       "<html>",
                                       "entries: {}",
                                       "apiVersion: v1\nentries: 3",
                                       "a: &a [*a, *a]",
                                       "\xff\xfe\x01" };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_AUTO_JSON *index = NULL;
        SW_ERR(err);
        if (sw_index_parse("r/index.yaml", bad[i], strlen(bad[i]), &index, &err) != SW_INVALID)
            fail_msg("%zu was taken", i);
        assert_non_null(strstr(sw_err_text(&err), "r/index.yaml"));
    }
}

/* ---- the cache --------------------------------------------------------------------------------
 */

static char dir[] = "/tmp/slipway-cache-test-XXXXXX";

static int make_dir(void **state SW_UNUSED)
{
    memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state SW_UNUSED)
{
    sw_cache_remove(dir);
    return access(dir, F_OK) == 0 ? -1 : 0;
}

static char *put(struct sw_cache *cache, const char *text)
{
    char *digest = sw_digest_of(text, strlen(text));
    sw_cache_put(cache, digest, text, strlen(text));
    return digest;
}

static bool has(struct sw_cache *cache, const char *digest)
{
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    return sw_cache_get(cache, digest, &bytes, &len);
}

static void the_cache_gives_what_it_was_given(void **state SW_UNUSED)
{
    struct sw_cache *cache = sw_cache_new(dir, NULL, 1000);
    SW_AUTO_CHARS *digest = put(cache, "hello");
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    assert_true(sw_cache_get(cache, digest, &bytes, &len));
    assert_string_equal(bytes, "hello");
    SW_AUTO_CHARS *other = sw_digest_of("x", 1);
    assert_false(has(cache, other));
    assert_false(has(cache, "sha256:../../etc/passwd"));
    assert_false(has(cache, ""));
    SW_AUTO_JSON *note = json_object_new_object();
    sw_json_set_str(note, "b", "a", NULL);
    sw_cache_set_note(cache, "key", note);
    SW_AUTO_JSON *again = sw_cache_note(cache, "key");
    assert_string_equal(sw_json_str(again, "", "a", NULL), "b");
    assert_null(sw_cache_note(cache, "other"));
    sw_cache_free(cache);
}

static void who_has_another_scope_does_not_find_it(void **state SW_UNUSED)
{
    const char *const scopes[] = { NULL, "a/login@1", "a/login@2" };
    struct sw_cache *caches[3];
    SW_AUTO_JSON *note = json_object_new_object();
    char *digests[3];
    for (size_t i = 0; i < SW_COUNT(scopes); i++) {
        SW_AUTO_CHARS *text = sw_printf("%zu", i);
        caches[i] = sw_cache_new(dir, scopes[i], 1000);
        digests[i] = put(caches[i], text);
        sw_cache_set_note(caches[i], text, note);
    }
    for (size_t i = 0; i < SW_COUNT(scopes); i++)
        for (size_t k = 0; k < SW_COUNT(scopes); k++) {
            SW_AUTO_CHARS *text = sw_printf("%zu", k);
            SW_AUTO_JSON *found = sw_cache_note(caches[i], text);
            assert_int_equal(has(caches[i], digests[k]), i == k);
            assert_int_equal(found != NULL, i == k);
        }
    for (size_t i = 0; i < SW_COUNT(scopes); i++) {
        sw_cache_free(caches[i]);
        free(digests[i]);
    }
}

static void what_was_damaged_is_not_there(void **state SW_UNUSED)
{
    struct sw_cache *cache = sw_cache_new(dir, NULL, 1000);
    SW_AUTO_CHARS *digest = put(cache, "hello");
    SW_AUTO_CHARS *path = sw_printf("%s/sha256/%s", dir, digest + strlen("sha256:"));
    SW_ERR(err);
    assert_int_equal(sw_file_write(path, "hellO", 5, &err), 0);
    assert_false(has(cache, digest));
    assert_int_not_equal(access(path, F_OK), 0);
    sw_cache_free(cache);
}

static void the_least_recently_used_goes(void **state SW_UNUSED)
{
    struct sw_cache *cache = sw_cache_new(dir, NULL, 25);
    SW_AUTO_CHARS *a = put(cache, "aaaaaaaaaa"), *b = put(cache, "bbbbbbbbbb");
    SW_AUTO_CHARS *path_a = sw_printf("%s/sha256/%s", dir, a + strlen("sha256:"));
    SW_AUTO_CHARS *path_b = sw_printf("%s/sha256/%s", dir, b + strlen("sha256:"));
    struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    struct timespec older[2] = { { .tv_sec = 500 }, { .tv_sec = 500 } };
    assert_int_equal(utimensat(0, path_a, older, 0), 0);
    assert_int_equal(utimensat(0, path_b, old, 0), 0);
    assert_true(has(cache, a)); /* used: now it is b's turn */
    SW_AUTO_CHARS *c = put(cache, "cccccccccc");
    assert_true(has(cache, a));
    assert_false(has(cache, b));
    assert_true(has(cache, c));
    SW_AUTO_CHARS *large = put(cache, "ddddddddddddddddddddddddddddddd"); /* would fill it alone */
    assert_false(has(cache, large));
    assert_true(has(cache, c));
    sw_cache_free(cache);
}

static void processes_share_the_cache(void **state SW_UNUSED)
{
    enum { PROCESSES = 4, ROUNDS = 40 };
    pid_t pids[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        if (pids[p] != 0)
            continue;
        struct sw_cache *cache = sw_cache_new(dir, NULL, 3000);
        int bad = 0;
        for (int i = 0; i < ROUNDS; i++) {
            char text[301];
            memset(text, 'a' + i % 8, 300); /* the same few, by all, over what fits */
            text[300] = '\0';
            char *digest = put(cache, text), *bytes = NULL;
            size_t len;
            if (sw_cache_get(cache, digest, &bytes, &len) && (len != 300 || strcmp(bytes, text)))
                bad = 1;
            free(bytes);
            free(digest);
        }
        sw_cache_free(cache);
        _exit(bad);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_int_equal(waitpid(pids[p], &status, 0), pids[p]);
        assert_int_equal(status, 0);
    }
}

static void without_a_folder_nothing_is_kept(void **state SW_UNUSED)
{
    static const char *const nowhere[] = { NULL, "", "/proc/nowhere/slipway" };
    for (size_t i = 0; i < SW_COUNT(nowhere); i++) {
        struct sw_cache *cache = sw_cache_new(nowhere[i], NULL, 1000);
        SW_AUTO_CHARS *digest = put(cache, "hello");
        assert_false(has(cache, digest));
        SW_AUTO_CHARS *tmp = NULL;
        SW_ERR(err);
        assert_int_equal(sw_cache_temp(cache, &tmp, &err), 0);
        sw_cache_remove(tmp);
        assert_int_not_equal(access(tmp, F_OK), 0);
        sw_cache_free(cache);
    }
}

/* ---- cm://, through the helper's document -----------------------------------------------------
 */

static struct json_object *request(const char *json)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(json, strlen(json), NULL, &doc, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    sw_json_set_str(doc, "", "cacheDir", NULL);
    return doc;
}

static void expect_answer(const char *json, int code, const char *words)
{
    SW_AUTO_JSON *doc = request(json), *answer = NULL;
    SW_AUTO_CHARS *bundle = NULL;
    size_t len;
    sw_fetch_do(doc, NULL, &answer, &bundle, &len);
    SW_AUTO_CHARS *text = sw_json_text(answer, SW_JSON_PLAIN, NULL);
    if (sw_json_int(answer, 1, "code", NULL) != code || !strstr(text, words))
        fail_msg("%s is not %d, '%s'", text, code, words);
    assert_true(code == 0 ? bundle != NULL : bundle == NULL);
}

#define MAP(data) "{\"metadata\": {\"namespace\": \"n\", \"name\": \"m\"}, " data "}"
#define ASK(url, name, map)                                                                        \
    "{\"url\": \"" url "\", \"name\": \"" name "\", \"version\": \"1.0.0\", \"configMaps\": [" map \
    "]}"

static void config_maps_are_read(void **state SW_UNUSED)
{
    expect_answer(ASK("cm://n/m", "", MAP("\"data\": {\"0000-a.yaml\": \"a: 1\"}")), 0,
                  "\"name\":\"m\"");
    expect_answer(ASK("cm://n/m", "", ""), SW_PENDING, "\"want\":\"cm://n/m\"");
    expect_answer(ASK("cm://n/m", "", MAP("\"missing\": true")), SW_NOTFOUND,
                  "there is no such ConfigMap");
    expect_answer(ASK("cm://n/m", "x", MAP("\"binaryData\": {\"y-1.0.0.tgz\": \"\"}")), SW_NOTFOUND,
                  "it has no key 'x-1.0.0.tgz' in binaryData");
    expect_answer(ASK("cm://n/m", "x", MAP("\"binaryData\": {\"x-1.0.0.tgz\": \"*\"}")), SW_INVALID,
                  "binaryData.x-1.0.0.tgz is no base64");
    expect_answer(ASK("cm://n/m", "x", MAP("\"binaryData\": {\"x-1.0.0.tgz\": \"AAAA\"}")),
                  SW_INVALID, "not a packaged chart");
    expect_answer(ASK("cm://n/m", "", MAP("\"data\": {}")), SW_INVALID, "cm://n/m: it is empty");
    expect_answer(ASK("cm://n", "", ""), SW_INVALID, "not cm://<namespace>/<name>");
    expect_answer(ASK("cm://n/m", "x",
                      MAP("\"data\": {\"index.yaml\": \"apiVersion: v1\\nentries: {x: [{version: "
                          "1.0.0, urls: [a/x-1.0.0.tgz], digest: '00'}]}\"}, \"binaryData\": "
                          "{\"x-1.0.0.tgz\": \"AAAA\"}")),
                  SW_INVALID, "its digest is sha256:");
    expect_answer(
        ASK("cm://n/m", "x", MAP("\"data\": {\"index.yaml\": \"apiVersion: v1\\nentries: {}\"}")),
        SW_NOTFOUND, "data.index.yaml: there is no chart 'x'");
}

static void what_no_fetcher_knows_is_refused(void **state SW_UNUSED)
{
    expect_answer("{\"url\": \"ftp://host/x\"}", SW_INVALID,
                  "ftp://host/x: recipes cannot be read from");
    expect_answer("{\"url\": \"\"}", SW_NOTFOUND, "No such file");
    expect_answer("{\"url\": \"oci://host\"}", SW_INVALID, "oci://host: no repository in it");
    expect_answer("{\"url\": \"oci://host/UPPER\"}", SW_INVALID, "oci://host/UPPER");
    expect_answer("{\"url\": \"https://u:secret@[/x.tgz\"}", SW_INVALID, "https://u:***@[");
}

static void a_broken_helper_is_seen(void **state SW_UNUSED)
{
    static const char *const bad[] = { "", "{}", "{\n", "no\n", "null\n", "[]\n" };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_AUTO_JSON *answer = NULL;
        const char *bundle;
        size_t len;
        SW_ERR(err);
        assert_int_equal(sw_fetch_read_answer(bad[i], strlen(bad[i]), &answer, &bundle, &len, &err),
                         SW_UNAVAILABLE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(git_urls_are_taken_apart),
        cmocka_unit_test(a_password_is_taken_out_of_a_git_url),
        cmocka_unit_test(bad_git_urls_are_refused),
        cmocka_unit_test(an_index_gives_the_version_that_helm_would),
        cmocka_unit_test(an_index_says_what_is_missing),
        cmocka_unit_test(what_is_no_index_is_refused),
        cmocka_unit_test_setup_teardown(the_cache_gives_what_it_was_given, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(who_has_another_scope_does_not_find_it, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(what_was_damaged_is_not_there, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(the_least_recently_used_goes, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(processes_share_the_cache, make_dir, remove_dir),
        cmocka_unit_test(without_a_folder_nothing_is_kept),
        cmocka_unit_test(config_maps_are_read),
        cmocka_unit_test(what_no_fetcher_knows_is_refused),
        cmocka_unit_test(a_broken_helper_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

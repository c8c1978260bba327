/* What needs no network: references, logins, mirrors, challenges, manifests. */
#include "chart/registry/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"

#define SHA "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* ---- references ---------------------------------------------------------------------------------
 */

static void references_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *repo, *tag, *digest;
    } rows[] = {
        { "busybox", "docker.io", "library/busybox", NULL, NULL },
        { "busybox:1.36", "docker.io", "library/busybox", "1.36", NULL },
        { "team/app", "docker.io", "team/app", NULL, NULL },
        { "index.docker.io/team/app", "docker.io", "team/app", NULL, NULL },
        { "docker.io/busybox", "docker.io", "library/busybox", NULL, NULL },
        { "quay.io/a/b/c:v1", "quay.io", "a/b/c", "v1", NULL },
        { "reg:5000/app", "reg:5000", "app", NULL, NULL },
        { "reg:5000/app:tag", "reg:5000", "app", "tag", NULL },
        { "reg.example:5000/a/b:t@" SHA, "reg.example:5000", "a/b", "t", SHA },
        { "quay.io/a@" SHA, "quay.io", "a", NULL, SHA },
        { "localhost/app", "localhost", "app", NULL, NULL },
        { "Reg/app", "Reg", "app", NULL, NULL },
        { "[::1]:5000/app:t", "[::1]:5000", "app", "t", NULL },
        { "a/b__c.d-e--f", "docker.io", "a/b__c.d-e--f", NULL, NULL },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_image_ref r = { 0 };
        SW_ERR(err);
        assert_int_equal(sw_image_ref_parse(rows[i].text, &r, &err), 0);
        assert_string_equal(r.host, rows[i].host);
        assert_string_equal(r.repo, rows[i].repo);
        assert_true(sw_streq(r.tag, rows[i].tag));
        assert_true(sw_streq(r.digest, rows[i].digest));
        SW_AUTO_CHARS *text = sw_image_ref_text(&r);
        struct sw_image_ref again = { 0 };
        assert_int_equal(sw_image_ref_parse(text, &again, &err), 0);
        SW_AUTO_CHARS *same = sw_image_ref_text(&again);
        assert_string_equal(text, same);
        sw_image_ref_done(&r);
        sw_image_ref_done(&again);
    }
}

static void what_is_no_reference_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "", "no repository" },
        { ":tag", "no repository" },
        { "App", "lower case" },
        { "quay.io/", "no repository" },
        { "quay.io//a", "not allowed" },
        { "a/b/", "not allowed" },
        { "a..b", "not allowed" },
        { "a:", "tag" },
        { "a:-x", "tag" },
        { "a:x y", "tag" },
        { "a@sha256:12", "digest" },
        { "a@sha256:" SHA, "digest" },
        { "reg:port/a", "port" },
        { "-reg.io/a", "name" },
        { "[::1/a", "brackets" },
        { "https://quay.io/a", "port" },
        { "a\nb", "not allowed" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_image_ref r = { 0 };
        SW_ERR(err);
        if (sw_image_ref_parse(rows[i][0], &r, &err) == 0)
            fail_msg("'%s' was taken", rows[i][0]);
        assert_non_null(strstr(err.text, "is not an image reference"));
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: expected '%s'", err.text, rows[i][1]);
    }
}

/* ---- logins -------------------------------------------------------------------------------------
 */

static void the_longest_login_wins(void **state)
{
    (void)state;
    static const char config[] =
        "{\"auths\":{"
        "\"https://index.docker.io/v1/\":{\"auth\":\"aHViOnB3\"},"
        "\"quay.io\":{\"auth\":\"YWxsOnB3\"},"
        "\"quay.io/team\":{\"auth\":\"dGVhbTpwdzp4\"},"
        "\"*.corp.example\":{\"username\":\"wild\",\"password\":\"p\"},"
        "\"exact.corp.example\":{\"username\":\"exact\",\"password\":\"p\"},"
        "\"reg:5000\":{\"username\":\"port\",\"password\":\"p\"},"
        "\"elsewhere\":{}}}";
    static const struct {
        const char *host, *repo, *user;
    } rows[] = {
        { "docker.io", "library/busybox", "hub" },
        { "quay.io", "other/app", "all" },
        { "quay.io", "team/app", "team" },
        { "quay.io", "teams/app", "all" },
        { "a.corp.example", "x", "wild" },
        { "exact.corp.example", "x", "exact" },
        { "reg:5000", "x", "port" },
        { "reg:5001", "x", NULL },
        { "elsewhere", "x", NULL },
    };
    SW_AUTO(sw_logins) *logins = sw_logins_new();
    SW_ERR(err);
    assert_int_equal(sw_logins_add(logins, "f", config, strlen(config), &err), 0);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_login l = { 0 };
        bool found = sw_logins_find(logins, rows[i].host, rows[i].repo, &l);
        assert_int_equal(found, rows[i].user != NULL);
        if (found)
            assert_string_equal(l.username, rows[i].user);
    }
    struct sw_login l;
    assert_true(sw_logins_find(logins, "quay.io", "team/app", &l));
    assert_string_equal(l.password, "pw:x");
}

static void secrets_of_both_kinds_are_read(void **state)
{
    (void)state;
    SW_AUTO_JSON *new_kind = json_tokener_parse(
        "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"n\",\"namespace\":\"a\"},\"data\":{"
        "\".dockerconfigjson\":"
        "\"eyJhdXRocyI6eyJxdWF5LmlvIjp7InVzZXJuYW1lIjoidSIsInBhc3N3b3JkIjoicCJ9fX0=\"}}");
    SW_AUTO_JSON *old_kind = json_tokener_parse(
        "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"o\",\"namespace\":\"a\"},\"data\":{"
        "\".dockercfg\":\"eyJyZWc6NTAwMCI6eyJ1c2VybmFtZSI6InYiLCJwYXNzd29yZCI6InAifX0=\"}}");
    SW_AUTO_JSON *no_kind = json_tokener_parse("{\"metadata\":{\"name\":\"x\"},\"data\":{}}");
    SW_AUTO(sw_logins) *logins = sw_logins_new();
    SW_ERR(err);
    assert_int_equal(sw_logins_add_secret(logins, new_kind, &err), 0);
    assert_int_equal(sw_logins_add_secret(logins, old_kind, &err), 0);
    assert_int_equal(sw_logins_add_secret(logins, no_kind, &err), SW_INVALID);
    struct sw_login l;
    assert_true(sw_logins_find(logins, "quay.io", "x", &l));
    assert_string_equal(l.source, "Secret a/n");
    assert_true(sw_logins_find(logins, "reg:5000", "x", &l));
    SW_AUTO_CHARS *sources = sw_logins_sources(logins);
    assert_string_equal(sources, "Secret a/n, Secret a/o");
}

static void bad_logins_are_refused_without_showing_them(void **state)
{
    (void)state;
    static const char *const rows[] = { "{\"auths\":{\"quay.io\":{\"auth\":\"c2VjcmV0\"}}}",
                                        "{\"auths\":[\"secret\"]}", "secret", "[]" };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_logins) *logins = sw_logins_new();
        SW_ERR(err);
        assert_int_equal(sw_logins_add(logins, "Secret a/b", rows[i], strlen(rows[i]), &err),
                         SW_INVALID);
        assert_non_null(strstr(err.text, "Secret a/b"));
        assert_null(strstr(err.text, "c2VjcmV0"));
    }
}

/* ---- mirrors ------------------------------------------------------------------------------------
 */

static char *sources_of(const struct sw_mirrors *m, const char *image)
{
    struct sw_image_ref ref = { 0 };
    struct sw_pull_sources s = { 0 };
    SW_ERR(err);
    assert_int_equal(sw_image_ref_parse(image, &ref, NULL), 0);
    char *text = sw_strdup("");
    if (sw_mirrors_sources(m, &ref, &s, &err) < 0) {
        free(text);
        text = sw_strdup("blocked");
    }
    for (size_t i = 0; i < s.n; i++) {
        SW_AUTO_CHARS *one = sw_image_ref_text(&s.items[i].ref);
        char *longer = sw_printf("%s%s%s%s", text, i ? " " : "", one,
                                 s.items[i].insecure ? "!" : "");
        free(text);
        text = longer;
    }
    sw_pull_sources_done(&s);
    sw_image_ref_done(&ref);
    return text;
}

static const char conf[] =
    "unqualified-search-registries = [\"docker.io\"]\n"
    "[[registry]]\n  prefix = \"\"\n  location = \"quay.io\"\n"
    "  [[registry.mirror]]\n    location = \"all.local:5000/quay\"\n"
    "[[registry]]\n  prefix = \"quay.io/team\"\n  location = \"quay.io/team\"\n"
    "  mirror-by-digest-only = true\n"
    "  [[registry.mirror]]\n    location = \"m1.local/team\"\n"
    "  [[registry.mirror]]\n    location = \"m2.local/team\"\n    insecure = true\n"
    "[[registry]]\n  prefix = \"*.corp.example\"\n"
    "  [[registry.mirror]]\n    location = \"corp.local\"\n    pull-from-mirror = \"tag-only\"\n"
    "[[registry]]\n  prefix = \"old.example\"\n  location = \"new.example/old\"\n"
    "[[registry]]\n  location = \"bad.example\"\n  blocked = true\n"
    "[[registry]]\n  location = \"plain.example\"\n  insecure = true\n";

static void mirrors_stand_for_the_longest_prefix(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "quay.io/other/app:1", "all.local:5000/quay/other/app:1 quay.io/other/app:1" },
        { "quay.io/team/app:1", "quay.io/team/app:1" },
        { "quay.io/team/app@" SHA,
          "m1.local/team/app@" SHA " m2.local/team/app@" SHA "! quay.io/team/app@" SHA },
        { "quay.io/teams/app:1", "all.local:5000/quay/teams/app:1 quay.io/teams/app:1" },
        { "a.corp.example/x:1", "corp.local/x:1 a.corp.example/x:1" },
        { "a.corp.example/x@" SHA, "a.corp.example/x@" SHA },
        { "corp.example/x:1", "corp.example/x:1" },
        { "old.example/x:1", "new.example/old/x:1" },
        { "bad.example/x:1", "blocked" },
        { "plain.example/x", "plain.example/x!" },
        { "free.example/x", "free.example/x" },
    };
    SW_AUTO(sw_mirrors) *m = sw_mirrors_new();
    SW_ERR(err);
    assert_int_equal(sw_mirrors_add_conf(m, "registries.conf", conf, strlen(conf), &err), 0);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *got = sources_of(m, rows[i][0]);
        assert_string_equal(got, rows[i][1]);
    }
}

static void policies_of_openshift_are_mirrors(void **state)
{
    (void)state;
    static const char *const policies[] = {
        "{\"kind\":\"ImageContentSourcePolicy\",\"spec\":{\"repositoryDigestMirrors\":["
        "{\"source\":\"quay.io/a\",\"mirrors\":[\"m1/a\",\"m1.local/a\"]},"
        "{\"source\":\"quay.io/b\",\"mirrors\":[\"m2.local/b\"]}]}}",
        "{\"kind\":\"ImageDigestMirrorSet\",\"spec\":{\"imageDigestMirrors\":["
        "{\"source\":\"quay.io/a\",\"mirrors\":[\"m3.local/a\"],"
        "\"mirrorSourcePolicy\":\"NeverContactSource\"}]}}",
        "{\"kind\":\"ImageTagMirrorSet\",\"spec\":{\"imageTagMirrors\":["
        "{\"source\":\"quay.io/c\",\"mirrors\":[\"m4.local/c\"]}]}}",
        "{\"kind\":\"Image\",\"spec\":{\"registrySources\":{\"insecureRegistries\":[\"m4.local\"],"
        "\"blockedRegistries\":[\"evil.example\"]}}}",
        "{\"kind\":\"Pod\",\"spec\":{}}",
    };
    SW_AUTO(sw_mirrors) *m = sw_mirrors_new();
    for (size_t i = 0; i < SW_COUNT(policies); i++) {
        SW_AUTO_JSON *doc = json_tokener_parse(policies[i]);
        sw_mirrors_add_policy(m, doc);
    }
    static const char *const rows[][2] = {
        /* "m1/a" would be docker.io's m1/a: locations are names like others */
        { "quay.io/a/x@" SHA, "docker.io/m1/a/x@" SHA " m1.local/a/x@" SHA " m3.local/a/x@" SHA },
        { "quay.io/a/x:1", "blocked" },
        { "quay.io/b/x@" SHA, "m2.local/b/x@" SHA " quay.io/b/x@" SHA },
        { "quay.io/c/x:1", "m4.local/c/x:1! quay.io/c/x:1" },
        { "evil.example/x", "blocked" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *got = sources_of(m, rows[i][0]);
        assert_string_equal(got, rows[i][1]);
    }
}

static void version_1_of_the_file_has_lists(void **state)
{
    (void)state;
    static const char text[] = "[registries.search]\nregistries = ['docker.io']\n"
                               "[registries.insecure]\nregistries = ['reg:5000']\n"
                               "[registries.block]\nregistries = ['bad.io']\n";
    SW_AUTO(sw_mirrors) *m = sw_mirrors_new();
    assert_int_equal(sw_mirrors_add_conf(m, "f", text, strlen(text), NULL), 0);
    SW_AUTO_CHARS *insecure = sources_of(m, "reg:5000/x");
    SW_AUTO_CHARS *blocked = sources_of(m, "bad.io/x");
    assert_string_equal(insecure, "reg:5000/x!");
    assert_string_equal(blocked, "blocked");
}

static void bad_configurations_are_refused_whole(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "[[registry]]\nprefix = \"a\"\n[[registry.mirror]]\n", "mirror of 'a' has no location" },
        { "[[registry]]\n", "neither prefix nor location" },
        { "[[registry]]\nprefix = \"a.*.b\"\n", "wildcard" },
        { "[[registry]]\nprefix = \"a\"\n[[registry.mirror]]\nlocation = \"b\"\n"
          "pull-from-mirror = \"often\"\n",
          "expected all, digest-only or tag-only" },
        { "[[registry\n", "registries.conf" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO(sw_mirrors) *m = sw_mirrors_new();
        SW_ERR(err);
        assert_int_equal(
            sw_mirrors_add_conf(m, "registries.conf", rows[i][0], strlen(rows[i][0]), &err),
            SW_INVALID);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: expected '%s'", err.text, rows[i][1]);
    }
}

static void image_comes_from_the_longest_mirror_that_fits(void **state)
{
    (void)state;
    static const char rules[] = "docker.io=m:5000/hub, quay.io/nvidia = m/nv/,quay.io=m/quay";
    static const char *const cases[][2] = {
        { "nginx:1", "m:5000/hub/library/nginx:1" },
        { "org/app@sha256:0", "m:5000/hub/org/app@sha256:0" },
        { "quay.io/nvidia/driver:2", "m/nv/driver:2" },
        { "quay.io/nvidiax/driver", "m/quay/nvidiax/driver" },
        { "ghcr.io/a/b:1", NULL },
        { "localhost/a", NULL },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *got = NULL;
        SW_ERR(err);
        assert_int_equal(sw_image_mirror(rules, cases[i][0], &got, &err), 0);
        if (cases[i][1])
            assert_string_equal(got, cases[i][1]);
        else
            assert_null(got);
    }
    SW_AUTO_CHARS *none = NULL;
    SW_ERR(err);
    assert_int_equal(sw_image_mirror("quay.io", "a", &none, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "'quay.io' is not SOURCE=MIRROR"));
}

/* ---- challenges, manifests ----------------------------------------------------------------------
 */

static void challenges_are_read(void **state)
{
    (void)state;
    struct challenge c = { 0 };
    challenge_read("Bearer realm=\"https://a/t?x=1,2\",service=\"s \\\"q\\\"\", scope=r:p:pull",
                   &c);
    assert_true(c.bearer);
    assert_string_equal(c.realm, "https://a/t?x=1,2");
    assert_string_equal(c.service, "s \"q\"");
    assert_string_equal(c.scope, "r:p:pull");
    challenge_done(&c);
    challenge_read("Negotiate, Basic realm=\"basic's\", bearer realm = \"b\"", &c);
    assert_true(c.basic && c.bearer);
    assert_string_equal(c.realm, "b");
    challenge_done(&c);
    challenge_read("Basic realm=\"un", &c);
    assert_true(c.basic && !c.bearer);
    challenge_done(&c);
}

static void manifests_are_known_by_what_they_say_or_look_like(void **state)
{
    (void)state;
    static const struct {
        const char *text, *header;
        int code;
        enum manifest_form form;
    } rows[] = {
        { "{\"layers\":[]}", NULL, 0, MANIFEST_IMAGE },
        { "{\"manifests\":[]}", "application/json", 0, MANIFEST_INDEX },
        { "{\"layers\":[],\"manifests\":[]}", NULL, SW_INVALID, 0 },
        { "{\"layers\":[]}", "application/vnd.oci.image.manifest.v1+json; charset=utf-8", 0,
          MANIFEST_IMAGE },
        { "{\"mediaType\":\"application/vnd.oci.image.index.v1+json\",\"manifests\":[]}",
          "application/vnd.oci.image.manifest.v1+json", 0, MANIFEST_INDEX },
        { "{\"mediaType\":\"text/plain\",\"layers\":[]}", NULL, SW_INVALID, 0 },
        { "{\"layers\":[{\"digest\":\"sha256:../..\"}]}", NULL, SW_INVALID, 0 },
        { "{\"layers\":{}}", NULL, SW_INVALID, 0 },
        { "{\"schemaVersion\":1}", NULL, SW_INVALID, 0 },
        { "[]", NULL, SW_INVALID, 0 },
        { "", NULL, SW_INVALID, 0 },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *doc = NULL;
        enum manifest_form form = MANIFEST_IMAGE;
        SW_ERR(err);
        int rc = manifest_read(rows[i].text, strlen(rows[i].text), rows[i].header, &doc, &form,
                               &err);
        assert_int_equal(rc, rows[i].code);
        if (rc == 0)
            assert_int_equal(form, rows[i].form);
    }
}

static void the_closest_variant_is_chosen(void **state)
{
    (void)state;
    SW_AUTO_JSON *index = json_tokener_parse(
        "{\"manifests\":["
        "{\"digest\":\"v6\",\"platform\":{\"os\":\"linux\",\"architecture\":\"arm\",\"variant\":"
        "\"v6\"}},"
        "{\"digest\":\"v7\",\"platform\":{\"os\":\"linux\",\"architecture\":\"arm\",\"variant\":"
        "\"v7\"}},"
        "{\"digest\":\"arm64\",\"platform\":{\"os\":\"linux\",\"architecture\":\"arm64\"}},"
        "{\"digest\":\"amd64\",\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}}]}");
    static const char *const rows[][2] = {
        { "linux/arm", "v7" },      { "linux/arm/v6", "v6" },   { "linux/arm64/v8", "arm64" },
        { "linux/amd64", "amd64" }, { "linux/arm64", "arm64" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const char *digest = NULL;
        assert_int_equal(manifest_choose(index, rows[i][0], &digest, NULL), 0);
        assert_string_equal(digest, rows[i][1]);
    }
    const char *digest = NULL;
    assert_int_equal(manifest_choose(index, "linux", &digest, NULL), SW_INVALID);
    assert_int_equal(manifest_choose(index, "windows/amd64", &digest, NULL), SW_NOTFOUND);
}

static void urls_of_charts_come_from_the_mirror(SW_UNUSED void **state)
{
    static const char rules[] = "quay.io=mirror.local:5000/quay, charts.jetstack.io=mirror.local, "
                                "https://helm.ngc.nvidia.com/nvidia=oci://mirror.local/nv";
    static const char *const cases[][2] = {
        { "oci://quay.io/jetstack/charts", "oci://mirror.local:5000/quay/jetstack/charts" },
        { "oci://quay.io", "oci://mirror.local:5000/quay" },
        { "https://charts.jetstack.io", "https://mirror.local" },
        { "http://charts.jetstack.io:8080/x", "http://mirror.local:8080/x" },
        { "https://helm.ngc.nvidia.com/nvidia", "oci://mirror.local/nv" },
        { "https://helm.ngc.nvidia.com/nvidia/charts/a-1.tgz",
          "oci://mirror.local/nv/charts/a-1.tgz" },
        { "http://helm.ngc.nvidia.com/nvidia", NULL }, /* the scheme is another one */
        { "https://helm.ngc.nvidia.com/nvidia2", NULL },
        { "oci://quay.io.example.com/x", NULL },
        { "oci://example.com/quay.io", NULL },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *got = NULL;
        SW_ERR(err);
        assert_int_equal(sw_url_mirror(rules, cases[i][0], &got, &err), 0);
        if (!sw_streq(got, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], got ? got : "(none)");
    }
    SW_AUTO_CHARS *none = NULL;
    SW_ERR(err);
    assert_int_equal(sw_url_mirror("quay.io", "oci://a", &none, &err), SW_INVALID);
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_taken_apart),
        cmocka_unit_test(what_is_no_reference_is_refused_with_a_reason),
        cmocka_unit_test(the_longest_login_wins),
        cmocka_unit_test(secrets_of_both_kinds_are_read),
        cmocka_unit_test(bad_logins_are_refused_without_showing_them),
        cmocka_unit_test(mirrors_stand_for_the_longest_prefix),
        cmocka_unit_test(policies_of_openshift_are_mirrors),
        cmocka_unit_test(version_1_of_the_file_has_lists),
        cmocka_unit_test(bad_configurations_are_refused_whole),
        cmocka_unit_test(image_comes_from_the_longest_mirror_that_fits),
        cmocka_unit_test(challenges_are_read),
        cmocka_unit_test(manifests_are_known_by_what_they_say_or_look_like),
        cmocka_unit_test(the_closest_variant_is_chosen),
        cmocka_unit_test(urls_of_charts_come_from_the_mirror),
    };
    return cmocka_run_group_tests_name("registry_parts", tests, NULL, NULL);
}

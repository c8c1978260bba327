/* Who uses a shared release: joining, leaving, handing over, and versions that do not go together.
 */
#include "operator/manifests/shared_release.h"

#include "data/data.h"
#include "operator/engine/owner.h"
#include "operator/manifests/ownership.h"
#include "unit/data/data_util.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct sw_release_user a = { "a", "ua", "1" }, b = { "b", "ub", "1" },
                                    c = { "c", "uc", "1" }, newer = { "c", "uc", "2" };

static const char *owner_of(struct json_object *entry)
{
    return sw_json_str(sw_shared_owner(entry), "", "name", NULL);
}

/* Of @a and @b; @a owns it. */
static struct json_object *of_two(void)
{
    struct json_object *entry = sw_shared_new(&a);
    assert_true(sw_shared_join(entry, &b));
    return entry;
}

static void first_owns_it_others_join(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two();
    assert_true(sw_shared_is_owned_by(entry, "ua"));
    assert_false(sw_shared_is_owned_by(entry, "ub"));
    assert_true(sw_shared_is_used_by(entry, "ub"));
    assert_false(sw_shared_join(entry, &b)); /* again */
    SW_AUTO_CHARS *others = sw_shared_others(entry, "ua");
    assert_string_equal(others, "b");
}

static void owner_leaves_to_the_next(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two(), *objects = parse("[{\"kind\":\"Namespace\"}]");
    bool gone;
    assert_true(sw_shared_leave(entry, "ua", objects));
    assert_string_equal(owner_of(entry), "a"); /* until all is handed over */
    assert_false(sw_shared_is_owned_by(entry, "ub"));
    assert_string_equal(sw_json_str(sw_shared_heir(entry, "ua"), "", "uid", NULL), "ub");
    assert_int_equal(sw_json_len(sw_json_get(entry, "objects")), 1);
    assert_true(sw_shared_done(entry, "ua", &gone));
    assert_false(gone);
    assert_true(sw_shared_is_owned_by(entry, "ub"));
    assert_false(sw_shared_done(entry, "ua", &gone)); /* again */
}

static void who_takes_over_waits_before_it_leaves(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two();
    bool gone;
    assert_true(sw_shared_join(entry, &c) && sw_shared_leave(entry, "ua", NULL));
    assert_false(sw_shared_leave(entry, "ub", NULL));
    assert_true(sw_shared_is_used_by(entry, "ub"));
    assert_true(sw_shared_done(entry, "ua", &gone) && sw_shared_leave(entry, "ub", NULL));
    assert_string_equal(sw_json_str(sw_shared_heir(entry, "ub"), "", "uid", NULL), "uc");
}

static void what_was_inherited_stays_listed(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two(),
                 *first = parse(
                     "[{\"kind\":\"A\",\"name\":\"a\"},{\"kind\":\"B\",\"name\":\"b\"}]"),
                 *second = parse(
                     "[{\"kind\":\"B\",\"name\":\"b\"},{\"kind\":\"C\",\"name\":\"c\"}]");
    bool gone;
    assert_true(sw_shared_join(entry, &c) && sw_shared_leave(entry, "ua", first));
    assert_true(sw_shared_done(entry, "ua", &gone) && sw_shared_leave(entry, "ub", second));
    assert_int_equal(sw_json_len(sw_json_get(entry, "objects")), 3);
}

static void who_has_joined_leaves_at_once(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two();
    assert_true(sw_shared_leave(entry, "ub", NULL));
    assert_false(sw_shared_is_used_by(entry, "ub"));
    assert_true(sw_shared_is_owned_by(entry, "ua"));
}

static void last_one_removes_it(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = sw_shared_new(&a);
    bool gone;
    assert_true(sw_shared_leave(entry, "ua", NULL));
    assert_true(sw_shared_is_leaving(entry, "ub"));
    assert_false(sw_shared_is_leaving(entry, "ua"));
    assert_null(sw_shared_heir(entry, "ua"));
    assert_true(sw_shared_done(entry, "ua", &gone));
    assert_true(gone);
}

static void who_comes_back_stays(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = sw_shared_new(&a);
    assert_true(sw_shared_leave(entry, "ua", NULL));
    assert_true(sw_shared_join(entry, &a));
    assert_false(sw_shared_is_leaving(entry, "ub"));
}

static void other_version_is_refused_by_name(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two();
    SW_AUTO_CHARS *why = sw_shared_conflict(entry, &newer, "ns/r");
    assert_string_equal(why, "shared release ns/r: resource c pins version 2, resource a pins "
                             "version 1; there is one of it in a cluster");
}

static void version_changes_when_all_want_it(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two();
    const struct sw_release_user a2 = { "a", "ua", "2" }, b2 = { "b", "ub", "2" };
    assert_true(sw_shared_join(entry, &a2));
    SW_AUTO_CHARS *why = sw_shared_conflict(entry, &a2, "ns/r");
    assert_non_null(why);
    assert_null(sw_shared_conflict(entry, &b, "ns/r")); /* it is installed as b wants it */
    assert_true(sw_shared_join(entry, &b2));
    assert_null(sw_shared_conflict(entry, &a2, "ns/r"));
    assert_true(sw_shared_join(entry, &a2)); /* the owner installs it */
    assert_string_equal(sw_json_str(entry, "", "version", NULL), "2");
}

static void namespace_says_who_uses_it(void **state)
{
    (void)state;
    SW_AUTO_JSON *ns = parse("{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"7\"}}"),
                 *releases = json_object_new_object();
    (void)json_object_object_add(releases, "r", of_two());
    SW_AUTO_JSON *patch = sw_shared_releases_patch(ns, releases);
    assert_string_equal(sw_json_str(patch, "", "metadata", "resourceVersion", NULL), "7");
    SW_AUTO_JSON *written = sw_merge_apply(ns, patch), *read = sw_shared_releases_of(written);
    assert_true(sw_json_equal(read, releases));
    SW_AUTO_JSON *empty = json_object_new_object();
    SW_AUTO_JSON *off = sw_shared_releases_patch(written, empty);
    SW_AUTO_JSON *after = sw_merge_apply(written, off);
    assert_null(sw_obj_annotation(after, SW_SHARED_NOTE));
    assert_null(sw_obj_label(after, SW_SHARED_LABEL));
}

static void what_is_no_entry_is_left_out(void **state)
{
    (void)state;
    static const char *const texts[] = { "no", "[]", "{\\\"r\\\":1}",
                                         "{\\\"r\\\":{\\\"users\\\":[]}}",
                                         "{\\\"r\\\":{\\\"users\\\":[{\\\"name\\\":\\\"a\\\"}]}}" };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        SW_AUTO_CHARS *text = sw_printf(
            "{\"metadata\":{\"annotations\":{\"" SW_SHARED_NOTE "\":\"%s\"}}}", texts[i]);
        SW_AUTO_JSON *ns = parse(text), *releases = sw_shared_releases_of(ns);
        assert_int_equal(json_object_object_length(releases), 0);
    }
}

static void object_gets_the_marks_of_the_heir(void **state)
{
    (void)state;
    SW_AUTO_JSON *live = parse("{\"metadata\":{\"resourceVersion\":\"3\",\"annotations\":{"
                               "\"slipway.dev/resource\":\"a\",\"x\":\"y\"},\"ownerReferences\":["
                               "{\"kind\":\"SpecialResource\",\"name\":\"a\",\"uid\":\"ua\","
                               "\"controller\":true},{\"name\":\"z\",\"uid\":\"uz\"}]}}"),
                 *heir = parse("{\"name\":\"b\",\"uid\":\"ub\"}");
    SW_AUTO_JSON *patch = sw_ownership_hand_over(live, "ua", "a", heir);
    SW_AUTO_JSON *after = sw_merge_apply(live, patch);
    assert_true(sw_obj_has_owner(after, "ub") && sw_obj_has_owner(after, "uz"));
    assert_false(sw_obj_has_owner(after, "ua"));
    assert_string_equal(sw_obj_annotation(after, "slipway.dev/resource"), "b");
    assert_string_equal(sw_obj_annotation(after, "x"), "y");
    assert_null(sw_ownership_hand_over(after, "ua", "a", heir)); /* again */
}

static void object_of_somebody_is_foreign(void **state)
{
    (void)state;
    static const struct {
        const char *object;
        bool foreign;
    } rows[] = {
        { "{\"metadata\":{\"name\":\"x\",\"namespace\":\"n\"}}", true },
        { "{\"metadata\":{\"name\":\"x\",\"labels\":{\"specialresource.openshift.io/owned\":"
          "\"true\"}}}",
          false },
        { "{\"metadata\":{\"name\":\"x\",\"namespace\":\"n\",\"ownerReferences\":[{}]}}", false },
        { "{\"metadata\":{\"name\":\"x\",\"namespace\":\"m\",\"ownerReferences\":[{}]}}", true },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *object = parse(rows[i].object);
        assert_int_equal(sw_shared_is_foreign(object, "n/r"), rows[i].foreign);
    }
}

static bool has_former(struct json_object *entry, const char *name)
{
    return sw_json_has_text(sw_json_get(entry, "former"), name);
}

static void who_is_gone_is_a_former_owner(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two();
    assert_true(sw_shared_join(entry, &c) && sw_shared_forget(entry, "uc"));
    assert_null(sw_json_get(entry, "former")); /* it has owned nothing */
    assert_true(sw_shared_forget(entry, "ua") && has_former(entry, "a"));
    assert_true(sw_shared_is_owned_by(entry, "ub"));
}

static void who_is_gone_in_the_middle_is_a_former_owner(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two();
    assert_true(sw_shared_leave(entry, "ua", NULL) && !sw_shared_is_owned_by(entry, "ub"));
    sw_shared_forget_from(entry);
    assert_true(has_former(entry, "a") && sw_shared_is_owned_by(entry, "ub"));
}

static void who_comes_after_the_last_knows_them(void **state)
{
    (void)state;
    SW_AUTO_JSON *entry = of_two();
    assert_true(sw_shared_forget(entry, "ua"));
    SW_AUTO_JSON *fresh = sw_shared_renew(entry, &c);
    assert_true(sw_shared_is_owned_by(fresh, "uc") && has_former(fresh, "a"));
    assert_true(has_former(fresh, "b") && !sw_shared_is_used_by(fresh, "ub"));
}

static void namespace_of_a_former_owner_is_the_next_ones(void **state)
{
    (void)state;
    static const struct {
        const char *ns;
        size_t n;
    } rows[] = {
        { "{\"metadata\":{\"labels\":{\"specialresource.openshift.io/owned\":\"true\"},"
          "\"annotations\":{\"slipway.dev/resource\":\"a\"}}}",
          1 },
        { "{\"metadata\":{\"labels\":{\"specialresource.openshift.io/owned\":\"true\"},"
          "\"annotations\":{\"slipway.dev/resource\":\"z\"}}}",
          0 },
        { "{\"metadata\":{\"annotations\":{\"slipway.dev/resource\":\"a\"}}}", 0 },
        { "{\"metadata\":{}}", 0 },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *entry = of_two(), *ns = parse(rows[i].ns);
        assert_true(sw_shared_forget(entry, "ua"));
        sw_shared_inherit_namespace(entry, "n/r", ns);
        sw_shared_inherit_namespace(entry, "n/r", ns); /* once is enough */
        struct json_object *objects = sw_json_get(entry, "objects");
        assert_int_equal(sw_json_len(objects), rows[i].n);
        if (rows[i].n)
            assert_string_equal(sw_json_str(sw_json_at(objects, 0), "", "name", NULL), "n");
    }
}

static void mark_of_a_former_owner_is_taken_over(void **state)
{
    (void)state;
    SW_AUTO_JSON *live = parse("{\"metadata\":{\"annotations\":{\"slipway.dev/resource\":\"a\"}}}"),
                 *former = parse("[\"a\"]"), *other = parse("[\"c\"]");
    const struct sw_owner heir = { .name = "b", .shared = "n/r", .former = former },
                          stranger = { .name = "b", .shared = "n/r", .former = other },
                          unshared = { .name = "b", .former = former };
    assert_true(sw_owner_is_former(&heir, live));
    assert_null(sw_owner_foreign(&heir, live));
    SW_AUTO_CHARS *why = sw_owner_foreign(&stranger, live),
                  *too = sw_owner_foreign(&unshared, live);
    assert_string_equal(why, "belongs to SpecialResource a");
    assert_string_equal(too, why);
}

static void who_made_an_object_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *meta, *why;
    } rows[] = {
        { "{}", "exists and is not slipway's" },
        { "{\"managedFields\":[{\"manager\":\"old\",\"time\":\"2026-01-01T00:00:00Z\"},"
          "{\"manager\":\"argocd-controller\",\"time\":\"2026-01-03T00:00:00Z\"},"
          "{\"manager\":\"kubelet\",\"subresource\":\"status\",\"time\":"
          "\"2026-01-04T00:00:00Z\"},{\"manager\":\"b\",\"time\":\"2026-01-02T00:00:00Z\"}]}",
          "exists and is not slipway's (written by argocd-controller)" },
        { "{\"annotations\":{\"argocd.argoproj.io/tracking-id\":\"shop:/ConfigMap:n/c\"}}",
          "exists and is not slipway's (of Argo CD application shop)" },
        { "{\"labels\":{\"app.kubernetes.io/managed-by\":\"Helm\"},\"annotations\":{"
          "\"meta.helm.sh/release-name\":\"r\",\"meta.helm.sh/release-namespace\":\"n\"},"
          "\"managedFields\":[{\"manager\":\"helm\"}]}",
          "exists and is not slipway's (of Helm release r in namespace n, written by helm)" },
        { "{\"labels\":{\"app.kubernetes.io/managed-by\":\"kustomize\"}}",
          "exists and is not slipway's (managed by kustomize)" },
        { "{\"ownerReferences\":[{\"kind\":\"Shop\",\"name\":\"s\",\"uid\":\"u\"}]}",
          "exists and is not slipway's (owned by Shop s)" },
    };
    const struct sw_owner nobody = { .name = "a" };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *text = sw_printf("{\"metadata\":%s}", rows[i].meta);
        SW_AUTO_JSON *live = parse(text);
        SW_AUTO_CHARS *why = sw_owner_foreign(&nobody, live);
        assert_string_equal(why, rows[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_owns_it_others_join),
        cmocka_unit_test(owner_leaves_to_the_next),
        cmocka_unit_test(who_takes_over_waits_before_it_leaves),
        cmocka_unit_test(what_was_inherited_stays_listed),
        cmocka_unit_test(who_has_joined_leaves_at_once),
        cmocka_unit_test(last_one_removes_it),
        cmocka_unit_test(who_comes_back_stays),
        cmocka_unit_test(other_version_is_refused_by_name),
        cmocka_unit_test(version_changes_when_all_want_it),
        cmocka_unit_test(namespace_says_who_uses_it),
        cmocka_unit_test(what_is_no_entry_is_left_out),
        cmocka_unit_test(object_gets_the_marks_of_the_heir),
        cmocka_unit_test(object_of_somebody_is_foreign),
        cmocka_unit_test(who_is_gone_is_a_former_owner),
        cmocka_unit_test(who_is_gone_in_the_middle_is_a_former_owner),
        cmocka_unit_test(who_comes_after_the_last_knows_them),
        cmocka_unit_test(namespace_of_a_former_owner_is_the_next_ones),
        cmocka_unit_test(mark_of_a_former_owner_is_taken_over),
        cmocka_unit_test(who_made_an_object_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

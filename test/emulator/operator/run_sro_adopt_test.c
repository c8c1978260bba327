/* What SRO left behind when its image was changed for slipway's: resources, objects, finalizers. */
#include "run_sro.h"

static const char config[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n"
                             "data:\n  kept: new\n";

static void create_as_sro(struct world *w, const char *json)
{
    struct json_object *body = json_tokener_parse(json);
    assert_non_null(body);
    const struct sw_kind *k = world_kind(w, sw_obj_api_version(body), sw_obj_kind(body));
    w->answer_code = SW_PENDING;
    const char *ns = sw_obj_namespace(body);
    (void)sw_kube_create(w->conn.kube, k, *ns ? ns : NULL, NULL, body,
                         &(struct sw_request_opts){ .field_manager = "manager" }, world_on_answer,
                         w);
    json_object_put(body);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    assert_int_equal(w->answer_code, 0);
}

/* As SRO leaves them: owned, marked, with a hash of its own kind. */
#define LEFT_META(name, more)                                                                      \
    "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"left\",\"annotations\":{"                 \
    "\"" SRO "hash\":\"11400714819323198485\"},\"labels\":{\"" SRO "owned\":\"true\"},"            \
    "\"ownerReferences\":[{\"apiVersion\":\"" SR_VERSION "\",\"kind\":\"SpecialResource\","        \
    "\"name\":\"left\",\"uid\":\"%s\",\"controller\":true}]}" more

static void open_left(struct world *w, const char *dir, const char *object)
{
    world_open(w);
    sro_apply(w, dir);
    SW_AUTO_CHARS *uid = sw_strdup(sw_obj_uid(sro_get(w, "left")));
    create_as_sro(w, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
                     "\"left\"}}");
    const char *at = strstr(object, "%s");
    SW_AUTO_CHARS *json = sw_printf("%.*s%s%s", (int)(at - object), object, uid, at + 2);
    create_as_sro(w, json);
}

static bool has_manager(struct json_object *object, const char *name, const char *operation)
{
    struct json_object *list = sw_json_find(object, "metadata", "managedFields", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(sw_json_str(sw_json_at(list, i), "", "manager", NULL), name) &&
            sw_streq(sw_json_str(sw_json_at(list, i), "", "operation", NULL), operation))
            return true;
    return false;
}

static void fields_that_sro_wrote_are_taken_over(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "left", { "templates/0000-config.yaml", config });
    open_left(&w, dir,
              "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
              "\"data\":{\"kept\":\"old\",\"dropped\":\"x\"}," LEFT_META("settings", "}"));
    world_start(&w);
    world_must_be_ready(&w);
    struct json_object *map = world_get(&w, "v1", "ConfigMap", "left", "settings");
    assert_string_equal(sw_json_str(map, "", "data", "kept", NULL), "new");
    assert_null(sw_json_find(map, "data", "dropped", NULL));
    assert_true(has_manager(map, "slipway", "Apply"));
    assert_false(has_manager(map, "manager", "Update"));
    world_close(&w);
    chart_remove(root);
}

static const char pod[] = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: once\nspec:\n"
                          "  restartPolicy: Never\n  containers:\n  - name: c\n    image: i\n";

static void pod_that_sro_ran_is_not_run_again(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "left", { "templates/0000-pod.yaml", pod });
    open_left(&w, dir,
              "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"restartPolicy\":\"Never\","
              "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}," LEFT_META("once", "}"));
    SW_AUTO_CHARS *uid = sw_strdup(sw_obj_uid(world_get(&w, "v1", "Pod", "left", "once")));
    world_start(&w);
    world_must_be_ready(&w);
    struct json_object *now = world_get(&w, "v1", "Pod", "left", "once");
    assert_string_equal(sw_obj_uid(now), uid);
    assert_string_equal(sw_obj_annotation(now, "slipway.dev/resource"), "left");
    world_close(&w);
    chart_remove(root);
}

static void old_finalizer_does_not_hold_a_resource_for_ever(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "left", { "templates/0000-config.yaml", config });
    world_open(&w);
    sro_apply(&w, dir);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "left", NULL,
                                 "{\"metadata\":{\"finalizers\":[\"finalizer.sro.openshift.io\"]"
                                 "}}"),
                     0);
    assert_int_equal(world_delete(&w, SR_VERSION, "SpecialResource", NULL, "left"), 0);
    assert_non_null(sro_get(&w, "left"));
    world_start(&w);
    sro_until_gone(&w, SR_VERSION, "SpecialResource", NULL, "left");
    world_close(&w);
    chart_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_sro_wrote_are_taken_over),
        cmocka_unit_test(pod_that_sro_ran_is_not_run_again),
        cmocka_unit_test(old_finalizer_does_not_hold_a_resource_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

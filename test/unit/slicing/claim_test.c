/* AllocationClaims: what is read from them, and what is written back. */
#include "slicing/claim/claim.h"

#include <string.h>

#include "data/data.h"

#include <cmocka.h>

static struct json_object *claim(void)
{
    static const char text[] =
        "{\"spec\":{\"podRef\":{\"namespace\":\"ns\",\"name\":\"pod\",\"uid\":\"u\"},"
        "\"nodename\":\"n\",\"gpuUUID\":\"GPU-1\",\"profile\":\"2g.10gb\","
        "\"migPlacement\":{\"start\":2,\"size\":2}}}";
    struct json_object *doc = NULL;
    SW_ERR(err);
    assert_int_equal(sw_json_parse(text, sizeof text - 1, NULL, &doc, &err), 0);
    return doc;
}

static void test_read(void **state SW_UNUSED)
{
    SW_AUTO_JSON *doc = claim();
    struct sw_claim c;
    char profile[SW_MIG_NAME_LEN];
    SW_ERR(err);
    assert_int_equal(sw_claim_read(doc, &c, &err), 0);
    assert_string_equal(c.pod_ns, "ns");
    assert_string_equal(c.pod_name, "pod");
    assert_string_equal(c.pod_uid, "u");
    assert_string_equal(c.node, "n");
    assert_string_equal(c.gpu, "GPU-1");
    assert_string_equal(sw_mig_profile_text(&c.profile, profile), "2g.10gb");
    assert_int_equal(c.place.start, 2);
    assert_int_equal(c.place.size, 2);
    assert_int_equal(c.state, SW_CLAIM_STAGED);
}

/* What is written for a state is read as that state. */
static void test_states(void **state SW_UNUSED)
{
    for (int i = 0; i < SW_CLAIM_N_STATES; i++) {
        SW_AUTO_JSON *doc = claim(), *status = sw_claim_status((enum sw_claim_state)i, "m", 0);
        struct sw_claim c;
        sw_json_set(doc, json_object_get(sw_json_get(status, "status")), "status", NULL);
        assert_int_equal(sw_claim_read(doc, &c, NULL), 0);
        assert_int_equal(c.state, i);
        assert_string_equal(sw_json_str(sw_obj_condition(doc, "State"), "", "reason", NULL),
                            sw_claim_state_text((enum sw_claim_state)i));
    }
}

static void test_invalid(void **state SW_UNUSED)
{
    static const struct {
        const char *path[2];
        int64_t number; /* -2: it is deleted */
        const char *want;
    } rows[] = {
        { { "podRef", "uid" }, -2, "spec.podRef.uid is missing" },
        { { "nodename" }, -2, "spec.nodename is missing" },
        { { "gpuUUID" }, -2, "spec.gpuUUID is missing" },
        { { "profile" }, -2, "spec.profile: " },
        { { "migPlacement", "start" }, -1, "spec.migPlacement: start -1, size 2: " },
        { { "migPlacement", "size" }, 0, "spec.migPlacement: start 2, size 0: " },
        { { "migPlacement", "start" }, INT64_MAX, "spec.migPlacement: start 92" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *doc = claim();
        struct sw_claim c;
        SW_ERR(err);
        if (rows[i].number == -2)
            (void)sw_json_del(doc, "spec", rows[i].path[0], rows[i].path[1], NULL);
        else
            sw_json_set(doc, json_object_new_int64(rows[i].number), "spec", rows[i].path[0],
                        rows[i].path[1], NULL);
        assert_int_equal(sw_claim_read(doc, &c, &err), SW_INVALID);
        assert_int_equal(strncmp(sw_err_text(&err), rows[i].want, strlen(rows[i].want)), 0);
    }
}

static void a_view_claims_nothing(void **state SW_UNUSED)
{
    SW_AUTO_JSON *doc = claim();
    struct sw_claim c;
    SW_ERR(err);
    assert_int_equal(sw_claim_read(doc, &c, &err), 0);
    sw_json_set_str(doc, "ResourceClaim", "metadata", "labels", SW_CLAIM_VIEW, NULL);
    assert_int_equal(sw_claim_read(doc, &c, &err), SW_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_claims_nothing),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

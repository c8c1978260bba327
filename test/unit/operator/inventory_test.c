/* The inventory in a status: packed, unpacked, of older versions, and written by others. */
#include "operator/inventory/inventory.h"

#include "data/data.h"
#include "operator/release/record.h"
#include "unit/data/data_util.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PLAIN                                                                                      \
    "{\"state\":\"Ready: \",\"inventory\":[{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","         \
    "\"name\":\"a\"},{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"a\","              \
    "\"name\":\"b\",\"done\":true}]}"

static const char *packed_text(struct json_object *status)
{
    struct json_object *list = sw_json_get(status, "inventory");
    return sw_json_str(sw_json_at(list, 0), NULL, "packed", NULL);
}

static void what_is_packed_comes_out_as_it_was(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse(PLAIN), *plain = parse(PLAIN);
    SW_ERR(err);
    sw_inventory_pack(status);
    assert_int_equal(sw_json_len(sw_json_get(status, "inventory")), 1);
    assert_non_null(packed_text(status));
    assert_int_equal(sw_inventory_unpack(status, &err), 0);
    assert_true(sw_json_equal(status, plain));
}

#define RELEASE "\"release\":{\"name\":\"r\",\"namespace\":\"n\"}"
#define DETAILS                                                                                    \
    "\"needs\":[\"a\"],\"revision\":\"1f\",\"startedAt\":\"2026-01-01T00:00:00Z\","                \
    "\"since\":\"2026-01-01T00:00:09Z\","
#define ALL "\"objects\":{\"ready\":2,\"total\":2},\"nodes\":{\"labelled\":4,\"total\":4}"
#define KERNELS "\"variants\":[{\"name\":\"6.1\",\"objects\":{\"ready\":1,\"total\":1}}]"
#define SOME "\"objects\":{\"ready\":1,\"total\":2},\"nodes\":{\"labelled\":3,\"total\":4}"
#define STATES                                                                                     \
    "\"states\":[{\"name\":\"a\",\"phase\":\"Ready\"," DETAILS ALL "},"                            \
    "{\"name\":\"b\",\"label\":\"l\",\"note\":\"n\",\"phase\":\"Ready\",\"readyAt\":"              \
    "\"x\"," DETAILS ALL "," KERNELS "," RELEASE "},"                                              \
    "{\"name\":\"c\",\"phase\":\"Ready\"," DETAILS SOME "},"                                       \
    "{\"name\":\"d\",\"phase\":\"Waiting\"," DETAILS ALL "}]"
#define INVENTORY "\"inventory\":[{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"name\":\"a\"}]"

/* What is left of a state when it is packed. */
static void assert_left(struct json_object *status, size_t state, const char *text)
{
    SW_AUTO_JSON *left = parse(text);
    assert_true(sw_json_equal(sw_json_at(sw_json_get(status, "states"), state), left));
}

static void details_of_states_are_packed_with_it(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse("{" STATES "," INVENTORY "}");
    SW_AUTO_JSON *plain = sw_json_copy(status);
    SW_ERR(err);
    assert_true(sw_inventory_is_plain(status));
    sw_inventory_pack(status);
    assert_false(sw_inventory_is_plain(status));
    /* the first one's nodes are a column of kubectl get */
    assert_left(status, 0,
                "{\"name\":\"a\",\"phase\":\"Ready\",\"nodes\":{\"labelled\":4,\"total\":4}}");
    assert_left(status, 1, "{\"name\":\"b\",\"phase\":\"Ready\"}");
    assert_left(status, 2, "{\"name\":\"c\",\"phase\":\"Ready\"," SOME "}");
    assert_left(status, 3,
                "{\"name\":\"d\",\"phase\":\"Waiting\",\"startedAt\":\"2026-01-01T00:00:00Z\","
                "\"since\":\"2026-01-01T00:00:09Z\"," ALL "}");
    assert_int_equal(sw_inventory_unpack(status, &err), 0);
    assert_true(sw_json_equal(status, plain));
}

#define IDLE(name) "{\"name\":\"" name "\",\"phase\":\"Ready\"," DETAILS NOTHING "}"
#define NOTHING                                                                                    \
    "\"label\":\"l\",\"objects\":{\"ready\":0,\"total\":0},\"nodes\":{\"labelled\":4,\"total\":4}"

/* Without objects and Ready: nobody asks for them, and the page has them at their places. */
static void states_with_nothing_to_do_are_packed_as_a_whole(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse(
        "{\"states\":[" IDLE("i") ",{\"name\":\"a\",\"phase\":\"Ready\"," DETAILS ALL "}," IDLE(
            "j") "," IDLE("k") ",{\"name\":\"b\",\"phase\":\"Ready\"," DETAILS
            ALL "}," IDLE(
                "l") ",{\"name\":\"o\",\"phase\":\"Ready\",\"observes\":\"nfd\"," DETAILS NOTHING
                     "},"
                     "{\"name\":\"w\",\"phase\":\"Waiting\"," DETAILS NOTHING "}]," INVENTORY "}");
    SW_AUTO_JSON *plain = sw_json_copy(status);
    struct json_object *states = sw_json_get(status, "states");
    SW_ERR(err);
    sw_inventory_pack(status);
    assert_int_equal(sw_json_len(states), 4);
    assert_left(status, 0,
                "{\"name\":\"a\",\"phase\":\"Ready\",\"nodes\":{\"labelled\":4,\"total\":4}}");
    assert_left(status, 1, "{\"name\":\"b\",\"phase\":\"Ready\"}");
    assert_left(status, 2, "{\"name\":\"o\",\"phase\":\"Ready\",\"observes\":\"nfd\"}");
    assert_int_equal(sw_inventory_unpack(status, &err), 0);
    assert_true(sw_json_equal(status, plain));
    assert_ptr_equal(sw_json_get(status, "states"), states); /* who had the list has it still */
}

static void one_of_them_is_left_where_there_is_no_other(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse("{\"states\":[" IDLE("i") "," IDLE("j") "]," INVENTORY "}");
    SW_AUTO_JSON *plain = sw_json_copy(status);
    SW_ERR(err);
    sw_inventory_pack(status);
    assert_int_equal(sw_json_len(sw_json_get(status, "states")), 1);
    assert_left(status, 0,
                "{\"name\":\"j\",\"phase\":\"Ready\",\"nodes\":{\"labelled\":4,\"total\":4}}");
    assert_int_equal(sw_inventory_unpack(status, &err), 0);
    assert_true(sw_json_equal(status, plain));
}

/* Those of an older version are all there, and what stands packed beside them is not of it. */
static void what_was_packed_as_a_whole_is_not_added_to_an_older_versions(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse("{\"states\":[" IDLE("i") "," IDLE("j") "]," INVENTORY "}");
    SW_AUTO_JSON *later = parse(
        "{\"states\":[{\"name\":\"b\",\"phase\":\"Pending\",\"needs\":[]}]}");
    SW_ERR(err);
    sw_inventory_pack(status);
    sw_json_set(status, sw_json_copy(sw_json_get(later, "states")), "states", NULL);
    assert_int_equal(sw_inventory_unpack(status, &err), 0);
    assert_int_equal(sw_json_len(sw_json_get(status, "states")), 1);
}

/* @states as somebody may have packed them, beside a list of one: what it is then. */
static void assert_taken(const char *states, const char *expected)
{
    SW_AUTO_JSON *status = parse("{\"states\":[{\"name\":\"b\",\"phase\":\"Ready\"}]}"),
                 *whole = json_object_new_object(), *item = json_object_new_object(),
                 *names = json_object_new_array();
    sw_json_set(whole, parse(states), "states", NULL);
    sw_json_set(whole, json_object_new_array(), "inventory", NULL);
    SW_AUTO_CHARS *packed = sw_release_pack(whole);
    SW_ERR(err);
    sw_json_set_str(item, packed, "packed", NULL);
    sw_json_set(status, json_object_new_array(), "inventory", NULL);
    (void)json_object_array_add(sw_json_get(status, "inventory"), json_object_get(item));
    assert_int_equal(sw_inventory_unpack(status, &err), 0);
    for (size_t i = 0; i < sw_json_len(sw_json_get(status, "states")); i++)
        (void)json_object_array_add(
            names,
            json_object_get(sw_json_get(sw_json_at(sw_json_get(status, "states"), i), "name")));
    assert_string_equal(json_object_to_json_string_ext(names, JSON_C_TO_STRING_PLAIN), expected);
}

static void places_that_others_have_written_do_no_harm(void **state)
{
    (void)state;
    assert_taken("{\"a\":{\"at\":0},\"b\":{},\"c\":{\"at\":2}}", "[\"a\",\"b\",\"c\"]");
    assert_taken("{\"a\":{\"at\":0},\"c\":{\"at\":0}}", "[\"a\",\"b\"]");
    assert_taken("{\"a\":{\"at\":-1},\"c\":{\"at\":99},\"d\":{\"at\":1e30}}", "[\"b\"]");
    assert_taken("{\"a\":7,\"b\":{\"at\":0},\"c\":null,\"d\":[]}", "[\"b\"]");
    assert_taken("[]", "[\"b\"]");
}

/* An older version writes states, and not the inventory, which has not changed. */
static void states_of_an_older_version_are_not_mixed_with_what_was_packed(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse("{" STATES "," INVENTORY "}");
    SW_AUTO_JSON *later = parse(
        "{\"states\":[{\"name\":\"b\",\"phase\":\"Pending\",\"needs\":[]}]}");
    SW_ERR(err);
    sw_inventory_pack(status);
    sw_json_set(status, sw_json_copy(sw_json_get(later, "states")), "states", NULL);
    assert_true(sw_inventory_is_plain(status));
    assert_int_equal(sw_inventory_unpack(status, &err), 0);
    assert_left(status, 0, "{\"name\":\"b\",\"phase\":\"Pending\",\"needs\":[]}");
    assert_int_equal(sw_json_len(sw_json_get(status, "inventory")), 1);
}

static void states_without_objects_stay_whole(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse("{" STATES ",\"inventory\":[]}"), *plain = sw_json_copy(status);
    sw_inventory_pack(status);
    assert_true(sw_json_equal(status, plain));
    assert_false(sw_inventory_is_plain(status));
}

static void it_is_packed_once(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse(PLAIN), *once = NULL;
    sw_inventory_pack(status);
    once = sw_json_copy(status);
    assert_false(sw_inventory_is_plain(status));
    sw_inventory_pack(status);
    assert_true(sw_json_equal(status, once));
}

static void equal_inventories_are_packed_alike(void **state)
{
    (void)state;
    SW_AUTO_JSON *one = parse(PLAIN), *other = parse(PLAIN);
    sw_inventory_pack(one);
    sw_inventory_pack(other);
    assert_true(sw_json_equal(one, other));
}

static void an_older_version_s_list_is_read(void **state)
{
    (void)state;
    SW_AUTO_JSON *status = parse(PLAIN);
    assert_true(sw_inventory_is_plain(status));
    assert_int_equal(sw_json_len(sw_inventory_of(status)), 2);
}

static void no_inventory_is_none(void **state)
{
    (void)state;
    SW_AUTO_JSON *without = parse("{}"), *empty = parse("{\"inventory\":[]}");
    sw_inventory_pack(without);
    sw_inventory_pack(empty);
    assert_null(sw_inventory_of(without));
    assert_int_equal(sw_json_len(sw_inventory_of(empty)), 0);
    assert_null(sw_inventory_of(NULL));
}

static void what_others_have_written_there_is_refused(void **state)
{
    static const char *const broken[] = {
        "{\"inventory\":[{\"packed\":\"no base64\"}]}",
        "{\"inventory\":[{\"packed\":\"bm8gZ3ppcA==\"}]}",
        "{\"inventory\":[{\"packed\":\"\"}]}",
    };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(broken); i++) {
        SW_AUTO_JSON *status = parse(broken[i]);
        SW_ERR(err);
        assert_int_equal(sw_inventory_unpack(status, &err), SW_INVALID);
        assert_non_null(strstr(sw_err_text(&err), "status.inventory"));
        assert_int_equal(sw_json_len(sw_inventory_of(status)), 0);
    }
}

static void a_document_of_another_form_is_refused(void **state)
{
    (void)state;
    SW_AUTO_JSON *other = parse("{\"inventory\":{}}"), *status = parse("{\"inventory\":[{}]}");
    SW_AUTO_CHARS *packed = sw_release_pack(other);
    sw_json_set_str(sw_json_at(sw_json_get(status, "inventory"), 0), packed, "packed", NULL);
    assert_int_equal(sw_inventory_unpack(status, NULL), SW_INVALID);
}

/* Some 64 MiB out of some 64 KiB. */
static void what_would_fill_the_memory_is_refused(void **state)
{
    enum { BYTES = 64 << 20 };
    (void)state;
    SW_AUTO_JSON *bomb = json_object_new_object(), *status = parse("{\"inventory\":[{}]}");
    SW_AUTO_CHARS *text = sw_alloc(BYTES);
    memset(text, 'a', BYTES);
    sw_json_set(bomb, json_object_new_string_len(text, BYTES), "inventory", NULL);
    SW_AUTO_CHARS *packed = sw_release_pack(bomb);
    sw_json_set_str(sw_json_at(sw_json_get(status, "inventory"), 0), packed, "packed", NULL);
    assert_int_equal(sw_inventory_unpack(status, NULL), SW_INVALID);
    assert_int_equal(sw_json_len(sw_inventory_of(status)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_comes_out_as_it_was),
        cmocka_unit_test(details_of_states_are_packed_with_it),
        cmocka_unit_test(states_with_nothing_to_do_are_packed_as_a_whole),
        cmocka_unit_test(one_of_them_is_left_where_there_is_no_other),
        cmocka_unit_test(what_was_packed_as_a_whole_is_not_added_to_an_older_versions),
        cmocka_unit_test(places_that_others_have_written_do_no_harm),
        cmocka_unit_test(states_of_an_older_version_are_not_mixed_with_what_was_packed),
        cmocka_unit_test(states_without_objects_stay_whole),
        cmocka_unit_test(it_is_packed_once),
        cmocka_unit_test(equal_inventories_are_packed_alike),
        cmocka_unit_test(an_older_version_s_list_is_read),
        cmocka_unit_test(no_inventory_is_none),
        cmocka_unit_test(what_others_have_written_there_is_refused),
        cmocka_unit_test(a_document_of_another_form_is_refused),
        cmocka_unit_test(what_would_fill_the_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Documents that are kept share what is equal in them (data/json/pool.h). */
#include "data/json/json.h"
#include "data/json/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_object *parse(const char *text)
{
    json_object *doc = NULL;
    SW_ERR(err);
    assert_int_equal(sw_json_parse(text, strlen(text), NULL, &doc, &err), 0);
    return doc;
}

static json_object *member(json_object *doc, const char *key)
{
    json_object *value = NULL;
    assert_true(json_object_object_get_ex(doc, key, &value));
    return value;
}

static json_object *shared(struct sw_json_pool *pool, const char *text)
{
    json_object *doc = parse(text);
    sw_json_pool_share(pool, doc);
    SW_AUTO_CHARS *after = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    assert_string_equal(after, text); /* sharing shows in nothing that is written */
    return doc;
}

static void equal_maps_and_lists_are_there_once(void **state)
{
    (void)state;
    SW_AUTO(sw_json_pool) *pool = sw_json_pool_new();
    SW_AUTO_JSON *a = shared(
        pool, "{\"name\":\"a\",\"spec\":{\"ports\":[{\"port\":80},1.50,null],\"on\":true}}");
    const size_t n = sw_json_pool_count(pool), bytes = sw_json_pool_bytes(pool);
    SW_AUTO_JSON *b = shared(
        pool, "{\"name\":\"b\",\"spec\":{\"ports\":[{\"port\":80},1.50,null],\"on\":true}}");
    assert_int_equal(n, 3); /* spec, ports, the port */
    assert_int_equal(sw_json_pool_count(pool), n);
    assert_int_equal(sw_json_pool_bytes(pool), bytes);
    assert_ptr_equal(member(a, "spec"), member(b, "spec"));
    assert_ptr_not_equal(member(a, "name"), member(b, "name"));
}

static void what_differs_is_not_shared(void **state)
{
    static const char *const others[] = {
        "{\"spec\":{\"b\":2,\"a\":1}}",         "{\"spec\":{\"a\":1}}",
        "{\"spec\":{\"a\":1,\"b\":2,\"c\":3}}", "{\"spec\":{\"a\":1.0,\"b\":2}}",
        "{\"spec\":{\"a\":\"1\",\"b\":2}}",     "{\"spec\":[1,2]}",
        "{\"spec\":{\"a\":1,\"b\":null}}",      "{\"spec\":{\"a\":1,\"b\":18446744073709551615}}",
    };
    (void)state;
    SW_AUTO(sw_json_pool) *pool = sw_json_pool_new();
    SW_AUTO_JSON *doc = shared(pool, "{\"spec\":{\"a\":1,\"b\":2}}");
    for (size_t i = 0; i < SW_COUNT(others); i++) {
        SW_AUTO_JSON *other = shared(pool, others[i]);
        assert_ptr_not_equal(member(doc, "spec"), member(other, "spec"));
    }
    SW_AUTO_JSON *one = shared(pool, "[[1.0]]"), *two = shared(pool, "[[1.00]]");
    assert_ptr_not_equal(json_object_array_get_idx(one, 0), json_object_array_get_idx(two, 0));
}

static void what_nobody_holds_leaves_the_pool(void **state)
{
    (void)state;
    SW_AUTO(sw_json_pool) *pool = sw_json_pool_new();
    json_object *a = shared(pool, "{\"spec\":{\"x\":[1,2,{}]},\"status\":{}}");
    json_object *b = shared(pool, "{\"spec\":{\"x\":[1,2,{}]}}");
    json_object_put(a);
    assert_int_equal(sw_json_pool_count(pool), 3); /* spec, x, {} */
    json_object_put(b);
    assert_int_equal(sw_json_pool_count(pool), 0);
    assert_int_equal(sw_json_pool_bytes(pool), 0);
}

static void documents_outlive_the_pool(void **state)
{
    (void)state;
    struct sw_json_pool *pool = sw_json_pool_new();
    SW_AUTO_JSON *doc = shared(pool, "{\"spec\":{\"x\":[1,2]}}");
    sw_json_pool_free(pool);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    assert_string_equal(text, "{\"spec\":{\"x\":[1,2]}}");
}

static void a_changed_copy_shares_the_rest(void **state)
{
    (void)state;
    SW_AUTO(sw_json_pool) *pool = sw_json_pool_new();
    SW_AUTO_JSON *old = shared(pool,
                               "{\"spec\":{\"a\":{\"b\":1}},\"status\":{\"phase\":\"Pending\"}}");
    SW_AUTO_JSON *next = sw_json_copy(old);
    json_object_object_add(member(next, "status"), "phase", json_object_new_string("Running"));
    sw_json_pool_share(pool, next);
    assert_ptr_equal(member(old, "spec"), member(next, "spec"));
    assert_ptr_not_equal(member(old, "status"), member(next, "status"));
}

static void thousands_are_found_again(void **state)
{
    enum { N = 5000 };
    (void)state;
    SW_AUTO(sw_json_pool) *pool = sw_json_pool_new();
    json_object *docs[N];
    for (int i = 0; i < N; i++) {
        SW_AUTO_CHARS *text = sw_printf("{\"spec\":{\"number\":%d,\"same\":{\"a\":\"b\"}}}", i);
        docs[i] = shared(pool, text);
    }
    assert_int_equal(sw_json_pool_count(pool), N + 1);
    for (int i = 0; i < N; i++) {
        SW_AUTO_CHARS *text = sw_printf("{\"spec\":{\"number\":%d,\"same\":{\"a\":\"b\"}}}", i);
        SW_AUTO_JSON *again = shared(pool, text);
        assert_ptr_equal(member(again, "spec"), member(docs[i], "spec"));
    }
    for (int i = 0; i < N; i++)
        json_object_put(docs[i]);
    assert_int_equal(sw_json_pool_count(pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_maps_and_lists_are_there_once),
        cmocka_unit_test(what_differs_is_not_shared),
        cmocka_unit_test(what_nobody_holds_leaves_the_pool),
        cmocka_unit_test(documents_outlive_the_pool),
        cmocka_unit_test(a_changed_copy_shares_the_rest),
        cmocka_unit_test(thousands_are_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

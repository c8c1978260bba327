/* Lists and watches: selectors, pages, versions, expiry. */
#include "emulator/emulator/api.h"

static void make(struct api *api, const char *name, const char *label)
{
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"%s\",\"labels\":{\"l\":\"%s\"}}}",
                                    name, label);
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, body);
}

static void drop(struct api *api, const char *name)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", CONFIG_MAPS, name);
    api_must(api, 200, "DELETE", path, NULL, NULL);
}

static size_t n_items(json_object *list)
{
    return sw_json_len(sw_json_get(list, "items"));
}

static const char *nth_name(json_object *list, size_t i)
{
    return sw_obj_name(sw_json_at(sw_json_get(list, "items"), i));
}

static void a_list_says_its_kind_and_version(void **state)
{
    struct api *api = *state;
    make(api, "b", "1");
    make(api, "a", "2");
    SW_AUTO_JSON *list = api_expect(api, 200, "GET", CONFIG_MAPS, NULL, NULL);
    assert_string_equal(sw_obj_kind(list), "ConfigMapList");
    assert_int_equal(strtoull(str(list, "metadata", "resourceVersion", NULL), NULL, 10),
                     sw_store_version(api->store));
    assert_string_equal(nth_name(list, 0), "a");
    assert_string_equal(nth_name(list, 1), "b");
    assert_null(sw_json_get(sw_json_at(sw_json_get(list, "items"), 0), "kind"));
}

static void selectors_select(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    make(api, "b", "2");
    SW_AUTO_JSON *one = api_expect(api, 200, "GET", CONFIG_MAPS "?labelSelector=l%3D2", NULL, NULL);
    assert_int_equal(n_items(one), 1);
    assert_string_equal(nth_name(one, 0), "b");
    SW_AUTO_JSON *two = api_expect(api, 200, "GET", CONFIG_MAPS "?labelSelector=l+in+(1,2)", NULL,
                                   NULL);
    assert_int_equal(n_items(two), 2);
    SW_AUTO_JSON *named = api_expect(api, 200, "GET",
                                     CONFIG_MAPS "?fieldSelector=metadata.name%3Da", NULL, NULL);
    assert_int_equal(n_items(named), 1);
    SW_AUTO_JSON *all = api_expect(api, 200, "GET",
                                   "/api/v1/configmaps?fieldSelector=metadata.namespace!%3Ddefault",
                                   NULL, NULL);
    for (size_t i = 0; i < n_items(all); i++)
        assert_string_not_equal(sw_obj_namespace(sw_json_at(sw_json_get(all, "items"), i)),
                                "default");
    SW_AUTO_JSON *bad = api_expect(api, 400, "GET", CONFIG_MAPS "?fieldSelector=data.x%3D1", NULL,
                                   NULL);
    assert_non_null(strstr(str(bad, "message", NULL, NULL), "field label not supported: data.x"));
    api_must(api, 400, "GET", CONFIG_MAPS "?labelSelector=%3D%3D", NULL, NULL);
}

static void pages_show_one_moment(void **state)
{
    struct api *api = *state;
    const char *names[] = { "a", "b", "c", "d" };
    for (size_t i = 0; i < SW_COUNT(names); i++)
        make(api, names[i], "1");
    SW_AUTO_JSON *first = api_expect(api, 200, "GET", CONFIG_MAPS "?limit=2&labelSelector=l", NULL,
                                     NULL);
    assert_int_equal(n_items(first), 2);
    drop(api, "c");
    make(api, "bb", "1");
    api_must(api, 200, "PATCH", CONFIG_MAPS "/d", MERGE_PATCH, "{\"data\":{\"x\":\"y\"}}");
    SW_AUTO_CHARS *next = sw_printf(CONFIG_MAPS "?limit=2&labelSelector=l&continue=%s",
                                    str(first, "metadata", "continue", NULL));
    SW_AUTO_JSON *second = api_expect(api, 200, "GET", next, NULL, NULL);
    assert_int_equal(n_items(second), 2);
    assert_string_equal(nth_name(second, 0), "c");
    assert_string_equal(nth_name(second, 1), "d");
    assert_null(sw_json_find(sw_json_at(sw_json_get(second, "items"), 1), "data", NULL));
    assert_string_equal(str(second, "metadata", "resourceVersion", NULL),
                        str(first, "metadata", "resourceVersion", NULL));
    assert_string_equal(str(second, "metadata", "continue", NULL), "");
}

static void a_page_of_a_forgotten_moment_is_gone(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    make(api, "b", "1");
    SW_AUTO_JSON *first = api_expect(api, 200, "GET", CONFIG_MAPS "?limit=1", NULL, NULL);
    make(api, "c", "1");
    sw_store_compact(api->store);
    SW_AUTO_CHARS *next = sw_printf(CONFIG_MAPS "?continue=%s",
                                    str(first, "metadata", "continue", NULL));
    SW_AUTO_JSON *gone = api_expect(api, 410, "GET", next, NULL, NULL);
    assert_string_equal(str(gone, "reason", NULL, NULL), "Expired");
    api_must(api, 400, "GET", CONFIG_MAPS "?continue=nonsense", NULL, NULL);
}

static void the_rest_of_a_list_is_counted(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    make(api, "b", "1");
    make(api, "c", "1");
    SW_AUTO_JSON *first = api_expect(api, 200, "GET", CONFIG_MAPS "?limit=1", NULL, NULL);
    size_t all = sw_store_count(api->store, sw_store_kind(api->store, "", "ConfigMap"), "default");
    assert_int_equal(sw_json_int(first, 0, "metadata", "remainingItemCount", NULL), all - 1);
}

static void the_future_is_not_known(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 504, "GET", CONFIG_MAPS "?resourceVersion=999999", NULL,
                                   NULL);
    assert_non_null(strstr(str(doc, "message", NULL, NULL), "Too large resource version: 999999"));
}

/* ---- watches ------------------------------------------------------------------------------------
 */

static struct call *watch(struct api *api, const char *query)
{
    SW_AUTO_CHARS *path = sw_printf(CONFIG_MAPS "?watch=true&%s", query);
    return api_begin(api, "GET", path, NULL, NULL, NULL);
}

static void end(struct call *c)
{
    struct answer a = api_end(c);
    answer_done(&a);
}

static void assert_event(struct call *c, int i, const char *type, const char *name)
{
    SW_AUTO_JSON *event = api_event(c, i);
    assert_string_equal(str(event, "type", NULL, NULL), type);
    assert_string_equal(str(event, "object", "metadata", "name"), name);
}

static char *from_now(struct api *api)
{
    return sw_printf("resourceVersion=%llu", (unsigned long long)sw_store_version(api->store));
}

static void a_watch_tells_what_happens(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *now = from_now(api);
    struct call *c = watch(api, now);
    make(api, "a", "1");
    api_must(api, 200, "PATCH", CONFIG_MAPS "/a", MERGE_PATCH, "{\"data\":{\"x\":\"y\"}}");
    drop(api, "a");
    api_lines(c, 3);
    assert_event(c, 0, "ADDED", "a");
    assert_event(c, 1, "MODIFIED", "a");
    assert_event(c, 2, "DELETED", "a");
    SW_AUTO_JSON *last = api_event(c, 2);
    assert_string_equal(str(last, "object", "kind", NULL), "ConfigMap");
    assert_int_equal(strtoull(str(last, "object", "metadata", "resourceVersion"), NULL, 10),
                     sw_store_version(api->store));
    end(c);
}

static void a_watch_goes_on_where_another_ended(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *then = from_now(api);
    make(api, "a", "1");
    drop(api, "a");
    make(api, "b", "1");
    struct call *c = watch(api, then);
    api_lines(c, 3);
    assert_event(c, 0, "ADDED", "a");
    assert_event(c, 1, "DELETED", "a");
    assert_event(c, 2, "ADDED", "b");
    end(c);
}

static void a_selector_makes_objects_come_and_go(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *now = from_now(api);
    SW_AUTO_CHARS *query = sw_printf("labelSelector=l%%3D1&%s", now);
    struct call *live = watch(api, query);
    api_turn(live);
    make(api, "a", "2");
    api_must(api, 200, "PATCH", CONFIG_MAPS "/a", MERGE_PATCH,
             "{\"metadata\":{\"labels\":{\"l\":\"1\"}}}");
    api_must(api, 200, "PATCH", CONFIG_MAPS "/a", MERGE_PATCH, "{\"data\":{\"k\":\"v\"}}");
    api_must(api, 200, "PATCH", CONFIG_MAPS "/a", MERGE_PATCH,
             "{\"metadata\":{\"labels\":{\"l\":\"3\"}}}");
    struct call *replayed = watch(api, query);
    struct call *both[] = { live, replayed };
    for (size_t i = 0; i < SW_COUNT(both); i++) {
        api_lines(both[i], 3);
        assert_event(both[i], 0, "ADDED", "a");
        assert_event(both[i], 1, "MODIFIED", "a");
        assert_event(both[i], 2, "DELETED", "a");
        end(both[i]);
    }
}

static void a_watch_from_nothing_begins_with_what_is_there(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    struct call *c = watch(api, "labelSelector=l");
    api_lines(c, 1);
    assert_event(c, 0, "ADDED", "a");
    end(c);
}

static void initial_events_end_with_a_bookmark(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    struct call *c = watch(api, "labelSelector=l&sendInitialEvents=true&allowWatchBookmarks=true&"
                                "resourceVersionMatch=NotOlderThan");
    api_lines(c, 2);
    assert_event(c, 0, "ADDED", "a");
    SW_AUTO_JSON *mark = api_event(c, 1);
    assert_string_equal(str(mark, "type", NULL, NULL), "BOOKMARK");
    assert_string_equal(sw_obj_annotation(sw_json_get(mark, "object"), "k8s.io/initial-events-end"),
                        "true");
    end(c);
}

static void expect_refused(struct api *api, const char *query, const char *message)
{
    struct call *c = watch(api, query);
    while (!api_turn(c))
        ;
    assert_int_equal(c->answer.code, 422);
    SW_AUTO_JSON *status = NULL;
    SW_ERR(err);
    assert_int_equal(sw_json_parse(c->answer.text, strlen(c->answer.text), NULL, &status, &err), 0);
    assert_string_equal(str(status, "message", NULL, NULL), message);
    end(c);
}

#define LIST_OPTIONS "ListOptions.meta.k8s.io \"\" is invalid: "

static void initial_events_are_refused_where_the_release_has_them_off(void **state)
{
    static const char query[] = "sendInitialEvents=true&allowWatchBookmarks=true&"
                                "resourceVersionMatch=NotOlderThan";
    static const int off[] = { 27, 31, 33 };
    struct api *api = *state;
    for (size_t i = 0; i < SW_COUNT(off); i++) {
        sw_store_upgrade(api->store, off[i]);
        expect_refused(api, query,
                       LIST_OPTIONS "sendInitialEvents: Forbidden: sendInitialEvents is forbidden "
                                    "for watch unless the WatchList feature gate is enabled");
    }
    sw_store_upgrade(api->store, 26);
    expect_refused(api, query,
                   LIST_OPTIONS "resourceVersionMatch: Forbidden: resourceVersionMatch is "
                                "forbidden for watch");
    sw_store_upgrade(api->store, 36);
    expect_refused(api, "sendInitialEvents=true",
                   LIST_OPTIONS "resourceVersionMatch: Forbidden: sendInitialEvents requires "
                                "setting resourceVersionMatch to NotOlderThan");
    expect_refused(api, "resourceVersionMatch=NotOlderThan",
                   LIST_OPTIONS "resourceVersionMatch: Forbidden: resourceVersionMatch is "
                                "forbidden for watch unless sendInitialEvents is provided");
}

static void a_forgotten_version_is_an_error_event(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *then = from_now(api);
    make(api, "a", "1");
    sw_store_compact(api->store);
    struct call *c = watch(api, then);
    while (!api_turn(c))
        ;
    SW_AUTO_JSON *event = api_event(c, 0);
    assert_string_equal(str(event, "type", NULL, NULL), "ERROR");
    assert_int_equal(sw_json_int(event, 0, "object", "code", NULL), 410);
    assert_string_equal(str(event, "object", "reason", NULL), "Expired");
    end(c);
}

static void a_watch_ends_when_its_time_is_over(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *now = from_now(api);
    SW_AUTO_CHARS *query = sw_printf("timeoutSeconds=1&allowWatchBookmarks=true&%s", now);
    struct call *c = watch(api, query);
    int64_t began = sw_monotonic_ms();
    while (!api_turn(c))
        assert_true(sw_monotonic_ms() - began < 20000);
    assert_int_equal(c->answer.code, 200);
    SW_AUTO_JSON *mark = api_event(c, 0);
    assert_string_equal(str(mark, "type", NULL, NULL), "BOOKMARK");
    assert_int_equal(strtoull(str(mark, "object", "metadata", "resourceVersion"), NULL, 10),
                     sw_store_version(api->store));
    end(c);
}

static void who_has_gone_is_not_told(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *now = from_now(api);
    struct call *c = watch(api, now);
    make(api, "a", "1");
    api_lines(c, 1);
    const struct sw_emu_kind *kind = sw_store_kind(api->store, "", "ConfigMap");
    assert_non_null(kind->shelf->watchers);
    end(c); /* closes the connection in the middle of the reply */
    curl_multi_cleanup(api->multi);
    api->multi = curl_multi_init();
    int64_t began = sw_monotonic_ms();
    while (kind->shelf->watchers && sw_monotonic_ms() - began < 20000)
        sw_loop_step(api->loop, 1);
    assert_null(kind->shelf->watchers);
}

static void on_a_virtual_clock_a_day_of_watching_takes_no_time(void **state)
{
    (void)state;
    struct api *api = sw_zalloc(1, sizeof *api);
    SW_ERR(err);
    api->loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    assert_int_equal(
        sw_emulator_open(api->loop,
                         &(struct sw_emulator_opts){ .no_controllers = true, .no_nodes = true },
                         &api->emu, &err),
        0);
    api->store = sw_emulator_store(api->emu);
    api->multi = curl_multi_init();
    int64_t began = sw_monotonic_ms(), from_ms = sw_loop_now_ms(api->loop);
    SW_AUTO_CHARS *now = from_now(api);
    SW_AUTO_CHARS *query = sw_printf("timeoutSeconds=86400&allowWatchBookmarks=true&%s", now);
    struct call *c = watch(api, query);
    while (!api_turn(c))
        sw_loop_step(api->loop, 3600 * 1000);
    assert_int_equal(c->answer.code, 200);
    assert_true(sw_loop_now_ms(api->loop) - from_ms >= 86400 * 1000);
    assert_true(sw_monotonic_ms() - began < 20000);
    end(c);
    api_close(api);
}

static int setup(void **state)
{
    *state = api_open();
    return 0;
}

static int teardown(void **state)
{
    api_close(*state);
    return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_list_says_its_kind_and_version),
        T(selectors_select),
        T(pages_show_one_moment),
        T(a_page_of_a_forgotten_moment_is_gone),
        T(the_rest_of_a_list_is_counted),
        T(the_future_is_not_known),
        T(a_watch_tells_what_happens),
        T(a_watch_goes_on_where_another_ended),
        T(a_selector_makes_objects_come_and_go),
        T(a_watch_from_nothing_begins_with_what_is_there),
        T(initial_events_end_with_a_bookmark),
        T(initial_events_are_refused_where_the_release_has_them_off),
        T(a_forgotten_version_is_an_error_event),
        T(a_watch_ends_when_its_time_is_over),
        T(who_has_gone_is_not_told),
        cmocka_unit_test(on_a_virtual_clock_a_day_of_watching_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

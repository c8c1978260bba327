/* The hooks: every request is seen, and can be spoilt in every way. */
#include "emulator/emulator/api.h"

struct world {
    struct api *api;
    struct sw_emu_fault fault; /* for the next matching request */
    const char *verb;
    int n_requests, n_answers, last_code;
    char last[256];
};

static void on_request(const struct sw_emu_request *req, struct sw_emu_fault *fault, void *arg)
{
    struct world *w = arg;
    w->n_requests++;
    assert_int_equal(req->n, w->n_requests);
    (void)snprintf(w->last, sizeof w->last, "%s %s/%s %s %s/%s", req->verb, req->group,
                   req->version ? req->version : "", req->resource ? req->resource : "-",
                   req->ns ? req->ns : "", req->name ? req->name : "");
    if (w->verb && strcmp(req->verb, w->verb) == 0) {
        *fault = w->fault;
        w->verb = NULL;
    }
}

static void on_answer(const struct sw_emu_request *req, int code, void *arg)
{
    struct world *w = arg;
    (void)req;
    w->n_answers++;
    w->last_code = code;
}

static int setup(void **state)
{
    struct world *w = sw_zalloc(1, sizeof *w);
    w->api = api_open_with(&(struct sw_emulator_opts){ .no_controllers = true,
                                                       .no_nodes = true,
                                                       .on_request = on_request,
                                                       .on_answer = on_answer,
                                                       .arg = w });
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    api_close(w->api);
    free(w);
    return 0;
}

static void spoil(struct world *w, const char *verb, struct sw_emu_fault fault)
{
    w->verb = verb;
    w->fault = fault;
}

static void every_request_is_seen_with_its_parts(void **state)
{
    struct world *w = *state;
    api_must(w->api, 200, "GET", "/apis/apps/v1/namespaces/default/deployments", NULL, NULL);
    assert_string_equal(w->last, "list apps/v1 deployments default/");
    api_must(w->api, 404, "DELETE", CONFIG_MAPS "/a", NULL, NULL);
    assert_string_equal(w->last, "delete /v1 configmaps default/a");
    assert_int_equal(w->last_code, 404);
    api_must(w->api, 200, "GET", "/version", NULL, NULL);
    assert_string_equal(w->last, "get / - /");
    assert_int_equal(w->n_requests, 3);
    assert_int_equal(w->n_answers, 3);
    assert_int_equal(sw_emulator_n_requests(w->api->emu), 3);
}

static void an_error_is_answered_and_nothing_done(void **state)
{
    struct world *w = *state;
    spoil(w, "create",
          (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 429, .retry_after_s = 3 });
    ANSWER(a) = api_send(w->api, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"a\"}}");
    assert_int_equal(a.code, 429);
    assert_non_null(strstr(a.headers, "Retry-After: 3"));
    assert_string_equal(str(a.doc, "reason", NULL, NULL), "TooManyRequests");
    api_must(w->api, 404, "GET", CONFIG_MAPS "/a", NULL, NULL);
}

static void a_lost_answer_is_still_done(void **state)
{
    struct world *w = *state;
    spoil(w, "create", (struct sw_emu_fault){ .type = SW_FAULT_LOST });
    ANSWER(a) = api_send(w->api, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"a\"}}");
    assert_int_equal(a.code, 0);
    api_must(w->api, 200, "GET", CONFIG_MAPS "/a", NULL, NULL);
}

static void a_reset_does_nothing(void **state)
{
    struct world *w = *state;
    spoil(w, "create", (struct sw_emu_fault){ .type = SW_FAULT_RESET });
    ANSWER(a) = api_send(w->api, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"a\"}}");
    assert_int_equal(a.code, 0);
    api_must(w->api, 404, "GET", CONFIG_MAPS "/a", NULL, NULL);
}

static void a_hanging_request_hangs(void **state)
{
    struct world *w = *state;
    spoil(w, "get", (struct sw_emu_fault){ .type = SW_FAULT_HANG });
    struct call *c = api_begin(w->api, "GET", CONFIG_MAPS "/a", NULL, NULL, NULL);
    for (int i = 0; i < 200; i++)
        assert_false(api_turn(c));
    assert_int_equal(w->n_requests, 1);
    ANSWER(a) = api_end(c);
}

static void a_delay_comes_first(void **state)
{
    struct world *w = *state;
    spoil(w, "list", (struct sw_emu_fault){ .delay_ms = 50 });
    int64_t began = sw_monotonic_ms();
    api_must(w->api, 200, "GET", CONFIG_MAPS, NULL, NULL);
    assert_true(sw_monotonic_ms() - began >= 45);
}

static struct answer spoilt_watch(struct world *w, struct sw_emu_fault fault)
{
    spoil(w, "watch", fault);
    struct call *c = api_begin(w->api, "GET", "/api/v1/namespaces?watch=1&timeoutSeconds=1", NULL,
                               NULL, NULL);
    return api_finish(c);
}

static void a_watch_can_end_in_the_middle_of_a_line(void **state)
{
    struct world *w = *state;
    ANSWER(a) = spoilt_watch(w, (struct sw_emu_fault){ .type = SW_FAULT_TRUNCATE, .after = 2 });
    assert_int_equal(a.code, 0);
    assert_non_null(strchr(a.text, '\n'));
    assert_null(strchr(strchr(a.text, '\n') + 1, '\n'));
}

static void a_watch_can_speak_nonsense(void **state)
{
    struct world *w = *state;
    ANSWER(a) = spoilt_watch(w, (struct sw_emu_fault){ .type = SW_FAULT_GARBLE, .after = 1 });
    assert_int_equal(a.code, 200);
    assert_non_null(strstr(a.text, "\xff\xfe"));
}

static void a_watch_can_expire(void **state)
{
    struct world *w = *state;
    ANSWER(a) = spoilt_watch(w, (struct sw_emu_fault){ .type = SW_FAULT_EXPIRE, .after = 1 });
    assert_int_equal(a.code, 200);
    assert_int_equal(sw_json_int(a.doc, 0, "object", "code", NULL), 410);
}

static void a_watch_can_say_all_twice(void **state)
{
    struct world *w = *state;
    ANSWER(a) = spoilt_watch(w, (struct sw_emu_fault){ .type = SW_FAULT_DOUBLE });
    /* line after line comes a second time */
    int n = 0;
    for (const char *line = a.text; *line; n++) {
        size_t len = strcspn(line, "\n") + 1;
        if (!strstr(line, "\"ADDED\""))
            break;
        assert_memory_equal(line, line + len, len);
        line += 2 * len;
    }
    assert_true(n >= 4);
}

static void an_event_that_none_follows_comes_all_the_same(void **state)
{
    struct world *w = *state;
    spoil(w, "watch", (struct sw_emu_fault){ .type = SW_FAULT_REORDER, .after = 1 });
    ANSWER(a) = api_send(w->api, "GET",
                         "/api/v1/namespaces?watch=1&timeoutSeconds=1"
                         "&fieldSelector=metadata.name%3Ddefault",
                         NULL, NULL);
    assert_int_equal(a.code, 200);
    assert_non_null(strstr(a.text, "\"ADDED\""));
}

static void a_list_can_be_of_yesterday(void **state)
{
    struct world *w = *state;
    SW_AUTO_JSON *before = api_expect(w->api, 200, "GET", CONFIG_MAPS, NULL, NULL);
    api_must(w->api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"a\"}}");
    spoil(w, "list", (struct sw_emu_fault){ .type = SW_FAULT_STALE });
    SW_AUTO_JSON *stale = api_expect(w->api, 200, "GET", CONFIG_MAPS, NULL, NULL);
    assert_true(sw_json_equal(sw_json_get(before, "items"), sw_json_get(stale, "items")));
    /* one that says how old it may be is not */
    SW_AUTO_JSON *last = api_expect(w->api, 200, "GET", CONFIG_MAPS, NULL, NULL);
    SW_AUTO_CHARS *path = sw_printf(CONFIG_MAPS
                                    "?resourceVersionMatch=NotOlderThan&resourceVersion=%s",
                                    sw_json_str(last, "", "metadata", "resourceVersion", NULL));
    spoil(w, "list", (struct sw_emu_fault){ .type = SW_FAULT_STALE });
    SW_AUTO_JSON *now = api_expect(w->api, 200, "GET", path, NULL, NULL);
    assert_int_equal(sw_json_len(sw_json_get(now, "items")),
                     sw_json_len(sw_json_get(before, "items")) + 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(every_request_is_seen_with_its_parts),
        T(an_error_is_answered_and_nothing_done),
        T(a_lost_answer_is_still_done),
        T(a_reset_does_nothing),
        T(a_hanging_request_hangs),
        T(a_delay_comes_first),
        T(a_watch_can_end_in_the_middle_of_a_line),
        T(a_watch_can_speak_nonsense),
        T(a_watch_can_expire),
        T(a_watch_can_say_all_twice),
        T(an_event_that_none_follows_comes_all_the_same),
        T(a_list_can_be_of_yesterday),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

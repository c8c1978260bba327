/* The proxy subresource: a second API server on the same loop stands in for what listens in a pod.
 */
#include "emulator/emulator/api.h"

#define PODS "/api/v1/namespaces/default/pods"
#define SERVICES "/api/v1/namespaces/default/services"

struct world {
    struct api *near, *far; /* requests go to @near */
};

static void make_pod(struct world *w, const char *name, const char *annotation)
{
    const char *far = strstr(sw_emulator_url(w->far->emu), "://") + 3;
    SW_AUTO_CHARS *note = annotation ? sw_printf("\"%s\":\"%s\"", annotation, far) : sw_strdup("");
    SW_AUTO_CHARS *body = sw_printf(
        "{\"metadata\":{\"name\":\"%s\",\"annotations\":{%s}},\"spec\":{\"containers\":[{\"name\":"
        "\"c\",\"image\":\"i\",\"ports\":[{\"containerPort\":8080}]}]}}",
        name, note);
    api_must(w->near, 201, "POST", PODS, NULL, body);
}

static void what_listens_in_a_pod_answers(void **state)
{
    struct world *w = *state;
    make_pod(w, "p", "emulator.slipway.dev/address.8080");
    static const char *const paths[] = { PODS "/p:8080/proxy/version", PODS "/p/proxy/version",
                                         PODS "/http:p:8080/proxy/version" };
    for (size_t i = 0; i < SW_COUNT(paths); i++) {
        SW_AUTO_JSON *doc = api_expect(w->near, 200, "GET", paths[i], NULL, NULL);
        assert_string_equal(str(doc, "major", NULL, NULL), "1");
    }
    assert_int_equal(sw_emulator_n_requests(w->far->emu), 3);
}

static void path_query_method_and_body_go_along(void **state)
{
    struct world *w = *state;
    make_pod(w, "p", "emulator.slipway.dev/address");
    SW_AUTO_JSON *made = api_expect(w->near, 201, "POST", PODS "/p:1/proxy" CONFIG_MAPS,
                                    "application/yaml", "metadata: {name: there}");
    assert_string_equal(str(made, "metadata", "name", NULL), "there");
    SW_AUTO_JSON *list = api_expect(
        w->near, 200, "GET", PODS "/p:1/proxy" CONFIG_MAPS "?fieldSelector=metadata.name%3Dthere",
        NULL, NULL);
    assert_int_equal(sw_json_len(sw_json_get(list, "items")), 1);
    api_must(w->near, 404, "GET", CONFIG_MAPS "/there", NULL, NULL); /* not here */
}

static void what_the_far_end_refuses_is_handed_back(void **state)
{
    struct world *w = *state;
    make_pod(w, "p", "emulator.slipway.dev/address");
    ANSWER(a) = api_get(w->near, PODS "/p:1/proxy/nowhere");
    assert_int_equal(a.code, 404);
    assert_string_equal(a.text, "404 page not found\n");
    assert_non_null(strcasestr(a.headers, "content-type: text/plain"));
}

static void services_have_it_too(void **state)
{
    struct world *w = *state;
    const char *far = strstr(sw_emulator_url(w->far->emu), "://") + 3;
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"s\",\"annotations\":{\"emulator."
                                    "slipway.dev/address.web\":\"%s\"}},\"spec\":{\"ports\":[{"
                                    "\"name\":\"web\",\"port\":80}]}}",
                                    far);
    api_must(w->near, 201, "POST", SERVICES, NULL, body);
    api_must(w->near, 200, "GET", SERVICES "/s:web/proxy/healthz", NULL, NULL);
}

static void nobody_listens_in_an_emulated_pod(void **state)
{
    struct world *w = *state;
    make_pod(w, "p", NULL);
    SW_AUTO_JSON *doc = api_expect(w->near, 503, "GET", PODS "/p:8080/proxy/metrics", NULL, NULL);
    assert_string_equal(str(doc, "reason", NULL, NULL), "ServiceUnavailable");
    assert_non_null(strstr(str(doc, "message", NULL, NULL), "error trying to reach service: "));
    api_must(w->near, 404, "GET", PODS "/none:8080/proxy/metrics", NULL, NULL);
    api_must(w->near, 400, "GET", PODS "/ftp:p:8080/proxy/metrics", NULL, NULL);
}

static void an_address_where_nobody_is_says_so(void **state)
{
    struct world *w = *state;
    api_must(w->near, 201, "POST", PODS, NULL,
             "{\"metadata\":{\"name\":\"p\",\"annotations\":{\"emulator.slipway.dev/address\":"
             "\"127.0.0.1:1\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    api_must(w->near, 503, "GET", PODS "/p:8080/proxy/metrics", NULL, NULL);
}

static void who_goes_away_leaves_nothing_behind(void **state)
{
    struct world *w = *state;
    make_pod(w, "p", "emulator.slipway.dev/address");
    struct call *c = api_begin(w->near, "GET", PODS "/p:1/proxy" PODS "?watch=true", NULL, NULL,
                               NULL);
    int64_t began = sw_monotonic_ms();
    while (sw_emulator_n_requests(w->far->emu) == 0 && sw_monotonic_ms() - began < 20000)
        (void)api_turn(c);
    assert_int_equal(sw_emulator_n_requests(w->far->emu), 1);
    struct answer a = api_end(c);
    answer_done(&a);
    api_must(w->near, 200, "GET", "/version", NULL, NULL);
}

static int setup(void **state)
{
    struct world *w = sw_zalloc(1, sizeof *w);
    SW_ERR(err);
    w->near = api_open();
    w->far = sw_zalloc(1, sizeof *w->far);
    const struct sw_emulator_opts opts = { .no_controllers = true, .no_nodes = true, .seed = 8 };
    if (sw_emulator_open(w->near->loop, &opts, &w->far->emu, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sw_emulator_close(w->far->emu);
    api_close(w->near);
    free(w->far);
    free(w);
    return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_listens_in_a_pod_answers),           T(path_query_method_and_body_go_along),
        T(what_the_far_end_refuses_is_handed_back), T(services_have_it_too),
        T(nobody_listens_in_an_emulated_pod),       T(an_address_where_nobody_is_says_so),
        T(who_goes_away_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

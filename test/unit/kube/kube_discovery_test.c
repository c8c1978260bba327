/* Discovery: kinds are found with few questions, also ones that appear while we run. */
#include "kube/kube.h"

#include "base/base.h"
#include "base/loop.h"
#include "kube_server.h"

/** One test's world: the server answers each path from a table. */
struct page {
    const char *path;
    int status;
    const char *body;
};

struct fixture {
    struct sw_loop *loop;
    struct server srv;
    struct sw_kube *k;
    const struct page *pages;
    int n, code;
    const struct sw_kind *kind;
    char *words;
    char *accept;                  /* of the last request */
    struct sw_kube_request *other; /* cancelled in the first answer */
};

#define RESOURCE(plural, kind, namespaced)                                                         \
    "{\"name\":\"" plural "\",\"namespaced\":" namespaced ",\"kind\":\"" kind                      \
    "\",\"verbs\":[\"get\",\"list\",\"patch\"]}"
#define RESOURCES(version, list)                                                                   \
    "{\"kind\":\"APIResourceList\",\"groupVersion\":\"" version "\",\"resources\":[" list "]}"

static const struct page usual[] = {
    { "/api", 200, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}" },
    { "/api/v1", 200,
      RESOURCES(
          "v1",
          RESOURCE("nodes", "Node", "false") "," RESOURCE(
              "nodes/status", "Node",
              "false") "," RESOURCE("pods", "Pod",
                                    "true") ","
                                            "{\"name\":\"pods/"
                                            "eviction\",\"namespaced\":true,\"group\":\"policy\","
                                            "\"version\":\"v1\",\"kind\":\"Eviction\",\"verbs\":["
                                            "\"create\"]}") },
    { "/apis", 200,
      "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"apps\",\"versions\":[{\"groupVersion\":"
      "\"apps/v1\",\"version\":\"v1\"}]},{\"name\":\"x.io\",\"versions\":[{\"groupVersion\":"
      "\"x.io/v1\",\"version\":\"v1\"},{\"groupVersion\":\"x.io/"
      "v1beta1\",\"version\":\"v1beta1\"}]}]}" },
    { "/apis/apps/v1", 200, RESOURCES("apps/v1", RESOURCE("deployments", "Deployment", "true")) },
    { "/apis/x.io/v1", 200, RESOURCES("x.io/v1", RESOURCE("things", "Thing", "true")) },
    { "/apis/x.io/v1beta1", 503, "" },
    { "/apis/x.io", 200,
      "{\"kind\":\"APIGroup\",\"name\":\"x.io\",\"versions\":[{\"groupVersion\":\"x.io/v1\"},"
      "{\"groupVersion\":\"x.io/v1beta1\"}]}" },
    { NULL, 0, NULL },
};

static const struct page without_x[] = {
    { "/api", 200, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}" },
    { "/apis", 200,
      "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"apps\",\"versions\":[{\"groupVersion\":"
      "\"apps/v1\",\"version\":\"v1\"}]}]}" },
    { "/apis/apps/v1", 200, RESOURCES("apps/v1", RESOURCE("deployments", "Deployment", "true")) },
    { NULL, 0, NULL },
};

static const struct page aggregated[] = {
    { "/api", 200,
      "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{},\"versions\":[{\"version\":"
      "\"v1\",\"freshness\":\"Current\",\"resources\":[{\"resource\":\"nodes\",\"responseKind\":"
      "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Node\"},\"scope\":\"Cluster\",\"verbs\":["
      "\"get\","
      "\"watch\"],\"subresources\":[{\"subresource\":\"status\"}]}]}]}]}" },
    { "/apis", 200,
      "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":\"apps\"},"
      "\"versions\":["
      "{\"version\":\"v1\",\"resources\":[{\"resource\":\"deployments\",\"responseKind\":{\"kind\":"
      "\"Deployment\"},\"scope\":\"Namespaced\",\"verbs\":[\"get\"]}]}]}]}" },
    { NULL, 0, NULL },
};

static void on_request(struct server *srv SW_UNUSED, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    free(f->accept);
    f->accept = sreq_header(req, "Accept");
    for (const struct page *p = f->pages; p->path; p++) {
        if (sw_streq(p->path, req->path)) {
            reply(req, p->status, p->body);
            return;
        }
    }
    reply(req, 404, "404 page not found\n");
}

static void start(struct fixture *f, const struct page *pages)
{
    f->loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    f->pages = pages;
    f->srv.on_request = on_request;
    f->srv.arg = f;
    server_start(&f->srv, f->loop);
    struct sw_kube_config *c = server_config(&f->srv);
    SW_ERR(err);
    assert_int_equal(sw_kube_new(f->loop, c, NULL, &f->k, &err), 0);
    sw_kube_config_free(c);
}

static void tear_down(struct fixture *f)
{
    sw_kube_free(f->k);
    server_stop(&f->srv);
    sw_loop_free(f->loop);
    free(f->words);
    free(f->accept);
}

static void on_done(int code, const struct sw_err *err, void *arg)
{
    struct fixture *f = arg;
    f->n++;
    f->code = code;
    free(f->words);
    f->words = sw_strdup(sw_err_text(err));
    sw_kube_cancel(SW_TAKE(f->other));
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct fixture *f = arg;
    f->kind = kind;
    on_done(code, err, arg);
}

static void find(struct fixture *f, const char *api_version, const char *kind)
{
    int n = f->n;
    sw_kube_kind(f->k, api_version, kind, on_kind, f);
    assert_int_equal(f->n, n);
    run_until(f->loop, &f->n, n + 1);
}

static void a_kind_is_found_with_one_question(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    assert_null(sw_kube_kind_find(f.k, "apps/v1", "Deployment"));
    find(&f, "apps/v1", "Deployment");
    assert_int_equal(f.code, 0);
    assert_string_equal(f.kind->group, "apps");
    assert_string_equal(f.kind->version, "v1");
    assert_string_equal(f.kind->plural, "deployments");
    assert_true(f.kind->namespaced);
    assert_int_equal(f.kind->verbs, SW_CAN_GET | SW_CAN_LIST | SW_CAN_PATCH);
    assert_false(f.kind->has_status);
    assert_ptr_equal(f.kind, sw_kube_kind_find(f.k, "apps/v1", "Deployment"));
    find(&f, "apps/v1", "Deployment");
    assert_string_equal(f.srv.log, "GET /apis/apps/v1\n");
    tear_down(&f);
}

static void core_kinds_and_subresources_are_told_apart(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    find(&f, "v1", "Node");
    assert_string_equal(f.kind->group, "");
    assert_false(f.kind->namespaced);
    assert_true(f.kind->has_status);
    assert_null(sw_kube_kind_find(f.k, "v1", "Eviction"));
    assert_string_equal(f.kind->plural, "nodes");
    tear_down(&f);
}

static void a_document_is_asked_for_once_however_many_wait(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    for (int i = 0; i < 5; i++)
        sw_kube_kind(f.k, "v1", i % 2 ? "Pod" : "Node", on_kind, &f);
    run_until(f.loop, &f.n, 5);
    assert_int_equal(f.code, 0);
    assert_int_equal(f.srv.n_requests, 1);
    assert_counts(f.k, "n{verb=\"get\",resource=\"discovery\",code=\"200\"} 1\n");
    tear_down(&f);
}

static void what_is_not_served_is_named(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    find(&f, "nowhere.io/v1", "Thing");
    assert_int_equal(f.code, SW_NOTFOUND);
    assert_string_equal(f.words, "kind 'Thing' of 'nowhere.io/v1': API group 'nowhere.io' is not "
                                 "served by this cluster");
    find(&f, "x.io/v7", "Thing");
    assert_int_equal(f.code, SW_NOTFOUND);
    assert_string_equal(f.words,
                        "kind 'Thing' of 'x.io/v7': this cluster does not serve that version "
                        "(but x.io/v1, x.io/v1beta1)");
    find(&f, "x.io/v1", "Thong");
    assert_int_equal(f.code, SW_NOTFOUND);
    assert_string_equal(f.words, "kind 'Thong' is not in 'x.io/v1' as this cluster serves it; did "
                                 "you mean 'Thing'?");
    find(&f, "y.io/v1", "Thing");
    assert_string_equal(f.words,
                        "kind 'Thing' of 'y.io/v1': API group 'y.io' is not served by this "
                        "cluster; did you mean 'x.io/v1'?");
    find(&f, "v1", "Thing");
    assert_string_equal(f.words, "kind 'Thing' is not in 'v1' as this cluster serves it; 'x.io/v1' "
                                 "has it");
    find(&f, "x.io/v1beta1", "Thing");
    assert_int_equal(f.code, SW_UNAVAILABLE);
    find(&f, "../../etc", "Thing");
    assert_int_equal(f.code, SW_INVALID);
    tear_down(&f);
}

static void a_kind_that_appears_is_found_the_next_time(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, without_x);
    find(&f, "x.io/v1", "Thing");
    assert_int_equal(f.code, SW_NOTFOUND);
    f.pages = usual;
    find(&f, "x.io/v1", "Thing");
    assert_int_equal(f.code, 0);
    assert_true(sw_kube_serves(f.k, "x.io/v1"));
    tear_down(&f);
}

static void a_kind_that_goes_keeps_its_row(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    find(&f, "x.io/v1", "Thing");
    const struct sw_kind *thing = f.kind;
    f.pages = without_x;
    sw_kube_discover(f.k, NULL, on_done, &f);
    run_until(f.loop, &f.n, 2);
    assert_false(sw_kube_serves(f.k, "x.io"));
    assert_false(thing->served);
    assert_null(sw_kube_kind_find(f.k, "x.io/v1", "Thing"));
    f.pages = usual;
    find(&f, "x.io/v1", "Thing");
    assert_ptr_equal(f.kind, thing);
    assert_true(thing->served);
    tear_down(&f);
}

static void collect(const char *api, void *arg)
{
    char **all = arg;
    char *longer = sw_printf("%s%s ", *all, api);
    free(*all);
    *all = longer;
}

static void everything_is_discovered_even_if_one_group_is_down(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    sw_kube_discover(f.k, "*", on_done, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    assert_int_equal(f.srv.n_requests, 6);
    SW_AUTO_CHARS *all = sw_strdup("");
    sw_kube_each_api(f.k, collect, &all);
    assert_non_null(strstr(all, "x.io/v1beta1 "));
    assert_non_null(strstr(all, "x.io/v1/Thing "));
    assert_non_null(strstr(all, "v1/Node "));
    assert_non_null(strstr(all, "apps/v1/Deployment "));
    tear_down(&f);
}

static void what_nobody_answered_for_is_no_no(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    size_t at = 0;
    start(&f, usual);
    sw_kube_discover(f.k, "*", on_done, &f);
    run_until(f.loop, &f.n, 1);
    assert_string_equal(sw_kube_next_doubtful(f.k, &at), "x.io/v1beta1");
    assert_null(sw_kube_next_doubtful(f.k, &at));
    assert_false(sw_kube_kinds_known(f.k, "x.io/v1beta1"));
    assert_true(sw_kube_kinds_known(f.k, "x.io/v1"));
    assert_true(sw_kube_kinds_known(f.k, "y.io/v1")); /* nobody serves it: that is known */
    tear_down(&f);
}

static void count(void *arg)
{
    ++*(int *)arg;
}

static void whatever_is_learned_is_told_once(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    int told = 0;
    start(&f, without_x);
    sw_kube_on_kinds(f.k, count, &told);
    sw_kube_discover(f.k, "*", on_done, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(told, 1);
    sw_kube_discover(f.k, "*", on_done, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(told, 1);
    f.pages = usual;
    find(&f, "x.io/v1", "Thing");
    assert_int_equal(told, 2);
    f.pages = without_x;
    sw_kube_discover(f.k, NULL, on_done, &f);
    run_until(f.loop, &f.n, 4);
    assert_int_equal(told, 3);
    tear_down(&f);
}

static void aggregated_discovery_needs_two_questions(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, aggregated);
    sw_kube_discover(f.k, "*", on_done, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    assert_non_null(strstr(f.accept, "as=APIGroupDiscoveryList"));
    assert_int_equal(f.srv.n_requests, 2);
    const struct sw_kind *node = sw_kube_kind_find(f.k, "v1", "Node");
    const struct sw_kind *deployment = sw_kube_kind_find(f.k, "apps/v1", "Deployment");
    assert_non_null(node);
    assert_non_null(deployment);
    assert_true(node->has_status && !node->namespaced && deployment->namespaced);
    assert_int_equal(node->verbs, SW_CAN_GET | SW_CAN_WATCH);
    tear_down(&f);
}

static void the_versions_alone_are_two_questions(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    sw_kube_discover(f.k, NULL, on_done, &f);
    run_until(f.loop, &f.n, 1);
    SW_AUTO_CHARS *all = sw_strdup("");
    sw_kube_each_api(f.k, collect, &all);
    assert_int_equal(f.srv.n_requests, 2);
    assert_true(sw_kube_serves(f.k, "apps") && sw_kube_serves(f.k, "x.io/v1beta1"));
    assert_true(sw_kube_serves(f.k, "") && sw_kube_serves(f.k, "v1"));
    assert_false(sw_kube_serves(f.k, "app") || sw_kube_serves(f.k, "x.io/v2"));
    tear_down(&f);
}

static void one_version_is_looked_at_anew(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    sw_kube_discover(f.k, "apps/v1", on_done, &f);
    run_until(f.loop, &f.n, 1);
    assert_non_null(sw_kube_kind_find(f.k, "apps/v1", "Deployment"));
    sw_kube_discover(f.k, "nowhere.io/v1", on_done, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.code, SW_NOTFOUND);
    assert_string_equal(f.words, "'nowhere.io/v1' is not served by this cluster");
    tear_down(&f);
}

static void a_search_may_be_cancelled_and_the_others_go_on(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f, usual);
    struct sw_kube_request *first = sw_kube_kind(f.k, "v1", "Node", on_kind, &f);
    sw_kube_kind(f.k, "v1", "Node", on_kind, &f);
    f.other = sw_kube_kind(f.k, "v1", "Node", on_kind, &f); /* in the answer of the one before */
    sw_kube_cancel(first);
    run_until(f.loop, &f.n, 1);
    run_for(f.loop, 1000);
    assert_int_equal(f.n, 1);
    sw_kube_kind(f.k, "apps/v1", "Deployment", on_kind, &f);
    sw_kube_kind(f.k, "v1", "Node", on_kind, &f); /* known already */
    sw_kube_free(SW_TAKE(f.k));
    run_for(f.loop, 1000);
    assert_int_equal(f.n, 1);
    tear_down(&f);
}

static void what_is_no_discovery_document_is_invalid(void **state)
{
    (void)state;
    static const struct page strange[] = {
        { "/apis/apps/v1", 200, "[1,2]" },
        { "/api", 200, "{\"x\":1}" },
        { "/apis", 200, "null" },
        { NULL, 0, NULL },
    };
    struct fixture f = { 0 };
    start(&f, strange);
    find(&f, "apps/v1", "Deployment");
    assert_int_equal(f.code, SW_INVALID);
    sw_kube_discover(f.k, "*", on_done, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.code, SW_INVALID);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_is_found_with_one_question),
        cmocka_unit_test(core_kinds_and_subresources_are_told_apart),
        cmocka_unit_test(a_document_is_asked_for_once_however_many_wait),
        cmocka_unit_test(what_is_not_served_is_named),
        cmocka_unit_test(a_kind_that_appears_is_found_the_next_time),
        cmocka_unit_test(a_kind_that_goes_keeps_its_row),
        cmocka_unit_test(everything_is_discovered_even_if_one_group_is_down),
        cmocka_unit_test(what_nobody_answered_for_is_no_no),
        cmocka_unit_test(whatever_is_learned_is_told_once),
        cmocka_unit_test(aggregated_discovery_needs_two_questions),
        cmocka_unit_test(the_versions_alone_are_two_questions),
        cmocka_unit_test(one_version_is_looked_at_anew),
        cmocka_unit_test(a_search_may_be_cancelled_and_the_others_go_on),
        cmocka_unit_test(what_is_no_discovery_document_is_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

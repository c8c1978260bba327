/* Requests: what goes over the wire, what each answer means, and that each is answered once. */
#include "kube/kube.h"

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube_server.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static const struct sw_kind pods = { .group = "",
                                     .version = "v1",
                                     .api_version = "v1",
                                     .kind = "Pod",
                                     .plural = "pods",
                                     .namespaced = true };
static const struct sw_kind deployments = { .group = "apps",
                                            .version = "v1",
                                            .api_version = "apps/v1",
                                            .kind = "Deployment",
                                            .plural = "deployments",
                                            .namespaced = true };
static const struct sw_kind nodes = {
    .group = "", .version = "v1", .api_version = "v1", .kind = "Node", .plural = "nodes"
};

/** One test's world, and what the last answer said. */
struct fixture {
    struct sw_loop *loop;
    struct server srv;
    struct sw_kube *k;
    struct sw_kube_request *req; /* the one that cb() cancels */
    int n;                       /* answers */
    int code, http_status;
    char *reason, *text, *words, *name, *warnings;
    int64_t retry_after_ms;
    int64_t at_ms;
    int n_items;
    bool more;
    bool cancel_in_cb, free_in_cb;
    int n_up, n_down, n_warnings;
    char *why;
    /* what the server does */
    int status;
    const char *body, *headers;
    int fail_first;      /* so many requests get @status, the rest 200 */
    bool silent;         /* never answers */
    bool hang_up;        /* closes instead of answering */
    struct conn *stream; /* of a log that is followed: begun, without an end */
    char *seen_headers, *seen_body, *seen_path, *seen_method;
    char *followed; /* of a log, in pieces */
    int n_pieces;
};

static void keep(char **at, const char *text)
{
    free(*at);
    *at = text ? sw_strdup(text) : NULL;
}

static void on_request(struct server *srv, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    (void)srv;
    keep(&f->seen_headers, req->headers);
    keep(&f->seen_body, req->body);
    keep(&f->seen_path, req->path);
    keep(&f->seen_method, req->method);
    if (f->silent)
        return;
    if (strstr(req->path, "follow=true")) {
        f->stream = req->conn;
        reply_chunked(req);
    } else if (f->hang_up && req->n <= f->fail_first) {
        conn_close(req->conn);
    } else if (f->fail_first && req->n > f->fail_first) {
        reply(req, 200, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"later\"}}");
    } else {
        reply_with(req, f->status, f->headers, f->body);
    }
}

static void cb(const struct sw_kube_answer *a, void *arg)
{
    struct fixture *f = arg;
    f->n++;
    f->at_ms = sw_loop_now_ms(f->loop);
    f->code = a->code;
    f->http_status = a->http_status;
    f->retry_after_ms = a->retry_after_ms;
    f->more = a->more;
    f->n_items += a->items ? (int)json_object_array_length(a->items) : 0;
    keep(&f->reason, a->reason);
    keep(&f->words, sw_err_text(a->err));
    keep(&f->name, a->object ? sw_obj_name(a->object) : NULL);
    keep(&f->text, a->text);
    keep(&f->warnings, a->warnings ? json_object_get_string(a->warnings) : NULL);
    if (f->cancel_in_cb)
        sw_kube_cancel(f->req);
    if (f->free_in_cb)
        sw_kube_free(SW_TAKE(f->k));
}

static void on_server(int code, const char *why, void *arg)
{
    struct fixture *f = arg;
    if (!code)
        f->n_up++;
    else
        f->n_down++;
    keep(&f->why, why);
}

static void on_warning(const char *text, void *arg)
{
    struct fixture *f = arg;
    f->n_warnings++;
    keep(&f->why, text);
}

static void start_as(struct fixture *f, bool virtual_clock, struct sw_kube_config *config,
                     struct sw_kube_opts opts)
{
    f->loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = virtual_clock });
    f->status = 200;
    f->body = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}";
    f->srv.on_request = on_request;
    f->srv.arg = f;
    server_start(&f->srv, f->loop);
    struct sw_kube_config *c = server_config(&f->srv);
    if (config) {
        free(config->server);
        config->server = sw_strdup(c->server);
    }
    opts.on_server = on_server;
    opts.on_warning = on_warning;
    opts.arg = f;
    opts.seed = 1;
    SW_ERR(err);
    assert_int_equal(sw_kube_new(f->loop, config ? config : c, &opts, &f->k, &err), 0);
    sw_kube_config_free(c);
}

static void start(struct fixture *f)
{
    start_as(f, true, NULL, (struct sw_kube_opts){ 0 });
}

static void tear_down(struct fixture *f)
{
    sw_kube_free(f->k);
    server_stop(&f->srv);
    sw_loop_free(f->loop);
    char *texts[] = { f->reason,      f->text,         f->words,     f->name,
                      f->why,         f->seen_headers, f->seen_body, f->seen_path,
                      f->seen_method, f->followed,     f->warnings };
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        free(texts[i]);
}

static bool sent_header(const struct fixture *f, const char *name, const char *value)
{
    struct sreq req = { .headers = f->seen_headers };
    SW_AUTO_CHARS *found = sreq_header(&req, name);
    return sw_streq(found, value);
}

/* ---- what goes over the wire --------------------------------------------------------------------
 */

static void a_get_asks_for_the_object_and_gives_it(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    sw_kube_get(f.k, &pods, "default", "a", NULL, cb, &f);
    assert_int_equal(f.n, 0); /* never before it returned */
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.seen_method, "GET");
    assert_string_equal(f.seen_path, "/api/v1/namespaces/default/pods/a");
    assert_string_equal(f.name, "a");
    assert_true(sent_header(&f, "Accept", "application/json"));
    assert_true(sent_header(&f, "User-Agent", "slipway"));
    tear_down(&f);
}

static void names_are_escaped_in_paths(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    sw_kube_get(f.k, &pods, "a/b", "x?y=#z ", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_string_equal(f.seen_path, "/api/v1/namespaces/a%2Fb/pods/x%3Fy%3D%23z%20");
    tear_down(&f);
}

static void an_empty_name_or_namespace_is_refused_without_asking(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    sw_kube_delete(f.k, &pods, "default", "", NULL, cb, &f);
    assert_int_equal(f.n, 0);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_INVALID);
    assert_string_equal(f.words, "delete pods 'default/': a name is needed");
    sw_kube_get(f.k, &pods, NULL, "a", NULL, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.code, SW_INVALID);
    assert_int_equal(f.srv.n_requests, 0);
    tear_down(&f);
}

static void an_apply_is_a_patch_with_a_field_manager(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    struct json_object *body = json_tokener_parse("{\"metadata\":{\"name\":\"d\"}}");
    f.status = 201;
    sw_kube_apply(f.k, &deployments, "ns", "d", body,
                  &(struct sw_request_opts){ .force = true, .dry_run = true }, cb, &f);
    json_object_put(body); /* borrowed for the call only */
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.http_status, 201);
    assert_string_equal(f.seen_method, "PATCH");
    assert_string_equal(f.seen_path, "/apis/apps/v1/namespaces/ns/deployments/d"
                                     "?fieldManager=slipway&force=true&dryRun=All");
    assert_true(sent_header(&f, "Content-Type", "application/apply-patch+yaml"));
    assert_string_equal(f.seen_body, "{\"metadata\":{\"name\":\"d\"}}");
    tear_down(&f);
}

static void each_patch_has_its_content_type(void **state)
{
    (void)state;
    static const struct {
        enum sw_kube_patch type;
        const char *content_type;
    } rows[] = {
        { SW_PATCH_MERGE, "application/merge-patch+json" },
        { SW_PATCH_JSON, "application/json-patch+json" },
        { SW_PATCH_STRATEGIC, "application/strategic-merge-patch+json" },
    };
    struct fixture f = { 0 };
    start(&f);
    struct json_object *body = json_object_new_array();
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        sw_kube_patch(f.k, &nodes, NULL, "n", rows[i].type, body,
                      &(struct sw_request_opts){ .subresource = "status" }, cb, &f);
        run_until(f.loop, &f.n, (int)i + 1);
        assert_true(sent_header(&f, "Content-Type", rows[i].content_type));
        assert_string_equal(f.seen_path, "/api/v1/nodes/n/status?fieldManager=slipway");
    }
    json_object_put(body);
    assert_counts(f.k, "n{verb=\"patch\",resource=\"nodes/status\",code=\"200\"} 3\n");
    tear_down(&f);
}

static void create_posts_and_update_puts(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    struct json_object *body = json_object_new_object();
    sw_kube_create(f.k, &pods, "ns", NULL, body, NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_string_equal(f.seen_method, "POST");
    assert_string_equal(f.seen_path, "/api/v1/namespaces/ns/pods?fieldManager=slipway");
    sw_kube_create(f.k, &pods, "ns", "p", body,
                   &(struct sw_request_opts){ .subresource = "eviction" }, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_string_equal(f.seen_path, "/api/v1/namespaces/ns/pods/p/eviction?fieldManager=slipway");
    sw_kube_update(f.k, &pods, "ns", "p", body, &(struct sw_request_opts){ .strict_fields = true },
                   cb, &f);
    run_until(f.loop, &f.n, 3);
    assert_string_equal(f.seen_method, "PUT");
    assert_string_equal(f.seen_path,
                        "/api/v1/namespaces/ns/pods/p?fieldManager=slipway&fieldValidation=Strict");
    json_object_put(body);
    tear_down(&f);
}

static void a_delete_carries_its_preconditions(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}";
    sw_kube_delete(f.k, &pods, "ns", "p",
                   &(struct sw_request_opts){ .propagation = "Foreground",
                                              .uid = "u-1",
                                              .resource_version = "7",
                                              .grace_period_s = -1 },
                   cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    assert_null(f.name); /* it is gone: no object */
    assert_string_equal(f.seen_body,
                        "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                        "\"propagationPolicy\":\"Foreground\",\"preconditions\":{\"uid\":\"u-1\","
                        "\"resourceVersion\":\"7\"},\"gracePeriodSeconds\":0}");
    f.body = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\"}}";
    sw_kube_delete(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_string_equal(f.name, "p"); /* its finalizers run */
    tear_down(&f);
}

static void logs_are_text_with_limits(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.body = "line 1\nline 2\n";
    sw_kube_logs(f.k, "ns", "p",
                 &(struct sw_request_opts){ .container = "c", .tail_lines = 2, .previous = true },
                 cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_string_equal(f.text, "line 1\nline 2\n");
    assert_string_equal(f.seen_path, "/api/v1/namespaces/ns/pods/p/log"
                                     "?container=c&tailLines=2&limitBytes=1048576&previous=true");
    tear_down(&f);
}

static void on_text(const char *bytes, size_t len, void *arg)
{
    struct fixture *f = arg;
    sw_append(&f->followed, "%.*s", (int)len, bytes);
    f->n_pieces++;
}

static void a_log_that_is_followed_has_neither_end_nor_turn(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start_as(&f, true, NULL, (struct sw_kube_opts){ .max_in_flight = 1, .timeout_ms = 1000 });
    f.req = sw_kube_logs(f.k, "ns", "p", &(struct sw_request_opts){ .on_text = on_text }, cb, &f);
    run_until(f.loop, &f.srv.n_requests, 1);
    assert_string_equal(f.seen_path, "/api/v1/namespaces/ns/pods/p/log?follow=true");
    send_chunk(f.stream, "one\n");
    run_until(f.loop, &f.n_pieces, 1);
    sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f); /* not behind it */
    run_until(f.loop, &f.n, 1);
    run_for(f.loop, 3600000);
    send_chunk(f.stream, "two\n");
    run_until(f.loop, &f.n_pieces, 2);
    assert_string_equal(f.followed, "one\ntwo\n");
    sw_kube_cancel(f.req);
    run_for(f.loop, 10);
    assert_int_equal(f.n, 1);
    tear_down(&f);
}

static void a_raw_request_sends_what_it_is_given(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.body = "ok";
    sw_kube_raw(f.k, "POST", "/any/path?x=1",
                &(struct sw_request_opts){ .body = "a: b", .content_type = "application/yaml" }, cb,
                &f);
    run_until(f.loop, &f.n, 1);
    assert_string_equal(f.text, "ok");
    assert_string_equal(f.seen_path, "/any/path?x=1");
    assert_string_equal(f.seen_body, "a: b");
    assert_true(sent_header(&f, "Content-Type", "application/yaml"));
    f.body = "{\"gitVersion\":\"v1.29.0\"}";
    sw_kube_version(f.k, NULL, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_string_equal(f.seen_path, "/version");
    tear_down(&f);
}

static void a_raw_path_must_be_one(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    sw_kube_raw(f.k, "GET", "version", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_INVALID);
    assert_int_equal(f.srv.n_requests, 0);
    tear_down(&f);
}

static void every_try_is_counted_by_verb_resource_and_status(void **state)
{
    (void)state;
    struct fixture f = { .fail_first = 1 };
    start(&f);
    f.status = 503;
    f.body = "";
    sw_kube_get(f.k, &deployments, "ns", "d", &(struct sw_request_opts){ .retries = 1 }, cb, &f);
    run_until(f.loop, &f.n, 1);
    sw_kube_get(f.k, &deployments, "ns", "d", NULL, cb, &f);
    run_until(f.loop, &f.n, 2);
    f.silent = true;
    struct sw_kube_request *r = sw_kube_delete(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.srv.n_requests, 4);
    sw_kube_cancel(r);
    assert_counts(f.k, "n{verb=\"get\",resource=\"deployments.apps\",code=\"503\"} 1\n"
                       "n{verb=\"get\",resource=\"deployments.apps\",code=\"200\"} 2\n"
                       "n{verb=\"delete\",resource=\"pods\",code=\"0\"} 1\n");
    tear_down(&f);
}

static void it_says_who_it_is(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct sw_kube_config *c = sw_kube_config_new(NULL);
    c->token = sw_strdup("t0p");
    c->as_user = sw_strdup("jane");
    start_as(&f, true, c, (struct sw_kube_opts){ .user_agent = "slipway/1.2" });
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_true(sent_header(&f, "Authorization", "Bearer t0p"));
    assert_true(sent_header(&f, "Impersonate-User", "jane"));
    assert_true(sent_header(&f, "User-Agent", "slipway/1.2"));
    sw_kube_get(f.k, &nodes, NULL, "n", &(struct sw_request_opts){ .as_user = "joe" }, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_true(sent_header(&f, "Impersonate-User", "joe"));
    sw_kube_config_free(c);
    tear_down(&f);
}

static void a_name_and_a_password_are_basic_authentication(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct sw_kube_config *c = sw_kube_config_new(NULL);
    c->username = sw_strdup("me");
    c->password = sw_strdup("pw");
    start_as(&f, true, c, (struct sw_kube_opts){ 0 });
    sw_kube_raw(f.k, "POST", "/x", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_true(sent_header(&f, "Authorization", "Basic bWU6cHc="));
    assert_true(sent_header(&f, "Content-Length", "0"));
    sw_kube_config_free(c);
    tear_down(&f);
}

static void a_proxy_is_asked_instead_of_the_server(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct sw_kube *k;
    SW_ERR(err);
    start(&f);
    struct sw_kube_config *c = sw_kube_config_new("http://cluster.invalid/");
    c->proxy_url = sw_strdup(sw_kube_server(f.k));
    assert_int_equal(sw_kube_new(f.loop, c, NULL, &k, &err), 0);
    sw_kube_get(k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.seen_path, "http://cluster.invalid/api/v1/nodes/n");
    sw_kube_free(k);
    sw_kube_config_free(c);
    tear_down(&f);
}

static void this_machine_is_behind_no_proxy(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    start(&f);
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    tear_down(&f);
}

static void a_value_that_would_be_another_header_is_refused(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    sw_kube_get(f.k, &nodes, NULL, "n", &(struct sw_request_opts){ .as_user = "a\r\nX: y" }, cb,
                &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_INVALID);
    assert_int_equal(f.srv.n_requests, 0);
    tear_down(&f);
}

static void keep_traced(const struct sw_kube_traced *t, void *arg)
{
    struct sw_kube_traced *last = arg;
    last[0] = last[1];
    last[1] = *t;
}

/* libcurl drops a header without a value: the request would be sent as the client itself. */
static void an_empty_identity_is_never_sent(void **state)
{
    (void)state;
    static const char *const empty[] = { "", " ", "\t " };
    struct fixture f = { 0 };
    start(&f);
    for (int i = 0; i < (int)SW_COUNT(empty); i++) {
        sw_kube_get(f.k, &nodes, NULL, "n", &(struct sw_request_opts){ .as_user = empty[i] }, cb,
                    &f);
        run_until(f.loop, &f.n, i + 1);
        assert_int_equal(f.code, SW_INVALID);
    }
    assert_int_equal(f.srv.n_requests, 0);
    struct sw_kube_config *c = sw_kube_config_new(sw_kube_server(f.k));
    struct sw_kube *k = NULL;
    SW_ERR(err);
    c->as_user = sw_strdup("");
    assert_int_equal(sw_kube_new(f.loop, c, NULL, &k, &err), SW_INVALID);
    free(SW_TAKE(c->as_user));
    c->as_groups = sw_zalloc(2, sizeof *c->as_groups);
    c->as_groups[0] = sw_strdup("system:masters");
    assert_int_equal(sw_kube_new(f.loop, c, NULL, &k, &err), SW_INVALID);
    sw_kube_config_free(c);
    tear_down(&f);
}

static void a_trace_tells_whose_a_request_was(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    sw_kube_get(f.k, &nodes, NULL, "n", &(struct sw_request_opts){ .as_user = "joe" }, cb, &f);
    run_until(f.loop, &f.n, 1);
    sw_kube_get(f.k, &nodes, NULL, "n", &(struct sw_request_opts){ .purpose = "tests" }, cb, &f);
    run_until(f.loop, &f.n, 2);
    struct sw_kube_traced last[2] = { 0 };
    sw_kube_each_traced(f.k, keep_traced, last);
    assert_string_equal(last[0].as_user, "joe");
    assert_null(last[0].purpose);
    assert_null(last[1].as_user);
    assert_string_equal(last[1].purpose, "tests");
    tear_down(&f);
}

static void a_token_file_is_read_again_when_it_changes(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    char path[] = "/tmp/kube_token_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    SW_ERR(err);
    assert_int_equal(sw_file_write(path, "one\n", 4, &err), 0);
    struct sw_kube_config *c = sw_kube_config_new(NULL);
    c->token_file = sw_strdup(path);
    start_as(&f, true, c, (struct sw_kube_opts){ 0 });
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_true(sent_header(&f, "Authorization", "Bearer one"));
    assert_int_equal(sw_file_write(path, "two\n", 4, &err), 0);
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_true(sent_header(&f, "Authorization", "Bearer two"));
    unlink(path); /* the last one read may still be good */
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 3);
    assert_true(sent_header(&f, "Authorization", "Bearer two"));
    sw_kube_config_free(c);
    tear_down(&f);
}

static void a_token_file_that_is_missing_is_named(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct sw_kube_config *c = sw_kube_config_new(NULL);
    c->token_file = sw_strdup("/nonexistent/token");
    start_as(&f, true, c, (struct sw_kube_opts){ 0 });
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_NOTFOUND);
    assert_non_null(strstr(f.words, "/nonexistent/token"));
    sw_kube_config_free(c);
    tear_down(&f);
}

/* ---- what answers mean --------------------------------------------------------------------------
 */

static void each_status_has_its_code_reason_and_words(void **state)
{
    (void)state;
    static const struct {
        int http_status;
        const char *reason, *message;
        int code;
        const char *our_reason;
    } rows[] = {
        { 400, "BadRequest", "bad", SW_INVALID, "BadRequest" },
        { 401, "Unauthorized", "Unauthorized", SW_FORBIDDEN, "Unauthorized" },
        { 403, "Forbidden", "User x cannot list resource y", SW_FORBIDDEN, "Forbidden" },
        { 404, "NotFound", "pods p not found", SW_NOTFOUND, "NotFound" },
        { 405, "MethodNotAllowed", "no", SW_INVALID, "MethodNotAllowed" },
        { 409, "AlreadyExists", "p already exists", SW_CONFLICT, "AlreadyExists" },
        { 409, "Conflict", "the object has been modified", SW_CONFLICT, "Conflict" },
        { 410, "Expired", "too old resource version", SW_GONE, "Expired" },
        { 413, "RequestEntityTooLarge", "too large", SW_INVALID, "RequestEntityTooLarge" },
        { 422, "Invalid", "spec.x: Required value", SW_INVALID, "Invalid" },
        { 429, "TooManyRequests", "later", SW_UNAVAILABLE, "TooManyRequests" },
        { 500, "InternalError", "etcdserver: leader changed", SW_UNAVAILABLE, "InternalError" },
        { 500, "", "failed to create typed patch object: .spec.x: field not declared", SW_INVALID,
          "Invalid" },
        { 500, "InternalError", "Internal error occurred: failed calling webhook w: no endpoints",
          SW_UNAVAILABLE, "WebhookFailed" },
        { 403, "Forbidden",
          "unable to create new content in namespace n because it is being terminated",
          SW_UNAVAILABLE, "NamespaceTerminating" },
        { 403, "Forbidden",
          "pods p is forbidden: error looking up service account n/default: serviceaccount "
          "default not found",
          SW_UNAVAILABLE, "ServiceAccountMissing" },
        { 503, "ServiceUnavailable", "down", SW_UNAVAILABLE, "ServiceUnavailable" },
        { 504, "Timeout", "slow", SW_UNAVAILABLE, "Timeout" },
    };
    struct fixture f = { 0 };
    start(&f);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *body = sw_printf(
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"%s\","
            "\"reason\":\"%s\",\"code\":%d}",
            rows[i].message, rows[i].reason, rows[i].http_status);
        f.status = rows[i].http_status;
        f.body = body;
        sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
        run_until(f.loop, &f.n, (int)i + 1);
        assert_int_equal(f.code, rows[i].code);
        assert_int_equal(f.http_status, rows[i].http_status);
        assert_string_equal(f.reason, rows[i].our_reason);
        SW_AUTO_CHARS *words = sw_printf("get pods 'ns/p': %s", rows[i].message);
        assert_string_equal(f.words, words);
    }
    tear_down(&f);
}

static void a_body_that_is_no_status_is_quoted_in_short(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.status = 502;
    f.body = "<html>Bad Gateway</html>\nmore";
    sw_kube_list(f.k, &deployments, "ns", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_UNAVAILABLE);
    assert_string_equal(f.words, "list deployments.apps in namespace 'ns': HTTP 502: "
                                 "<html>Bad Gateway</html>");
    f.status = 404;
    f.body = "";
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.code, SW_NOTFOUND);
    assert_string_equal(f.words, "get nodes 'n': HTTP 404");
    tear_down(&f);
}

static void an_answer_that_is_no_json_is_invalid(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.body = "<html>welcome</html>";
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_INVALID);
    assert_non_null(strstr(f.words, "no JSON"));
    sw_kube_list(f.k, &nodes, NULL, NULL, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.code, SW_INVALID);
    tear_down(&f);
}

static void warnings_are_told_once_each(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.headers = "Warning: 299 - \"v1beta1 is \\\"old\\\"\"\r\n";
    for (int i = 1; i <= 3; i++) {
        sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
        run_until(f.loop, &f.n, i);
    }
    assert_int_equal(f.n_warnings, 1);
    assert_string_equal(f.why, "v1beta1 is \"old\"");
    tear_down(&f);
}

static void an_answer_has_its_own_warnings(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.headers = "Warning: 299 - \"old\"\r\nWarning: 299 - \"odd\"\r\n";
    for (int i = 1; i <= 2; i++) { /* told of before, or not */
        sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
        run_until(f.loop, &f.n, i);
        assert_string_equal(f.warnings, "[ \"old\", \"odd\" ]");
    }
    f.headers = NULL;
    sw_kube_get(f.k, &nodes, NULL, "n", NULL, cb, &f);
    run_until(f.loop, &f.n, 3);
    assert_null(f.warnings);
    tear_down(&f);
}

/* ---- lists --------------------------------------------------------------------------------------
 */

static void serve_pages(struct server *srv, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    (void)srv;
    keep(&f->seen_path, req->path);
    if (f->fail_first && req->n == f->fail_first)
        reply_status(req, 410, "Expired", "The provided continue parameter is too old");
    else if (strstr(req->path, "continue=t%2F2"))
        reply(req, 200,
              "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"9\"},"
              "\"items\":[{\"metadata\":{\"name\":\"c\"}}]}");
    else
        reply(req, 200,
              "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"9\",\"continue\":\"t/2\"},"
              "\"items\":[{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"}}]}");
}

static void a_list_comes_in_pages(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.srv.on_request = serve_pages;
    sw_kube_list(f.k, &pods, NULL,
                 &(struct sw_request_opts){
                     .label_selector = "a in (b,c)", .field_selector = "x=y", .page_size = 2 },
                 cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_true(f.more);
    assert_string_equal(
        f.seen_path, "/api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29&fieldSelector=x%3Dy&limit=2");
    run_until(f.loop, &f.n, 2);
    assert_false(f.more);
    assert_int_equal(f.n_items, 3);
    run_for(f.loop, 1000);
    assert_int_equal(f.n, 2);
    tear_down(&f);
}

static void a_list_ends_at_the_page_that_fails(void **state)
{
    (void)state;
    struct fixture f = { .fail_first = 2 };
    start(&f);
    f.srv.on_request = serve_pages;
    sw_kube_list(f.k, &pods, NULL, NULL, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.code, SW_GONE);
    assert_string_equal(f.reason, "Expired");
    run_for(f.loop, 1000);
    assert_int_equal(f.n, 2);
    tear_down(&f);
}

static void a_list_cancelled_at_a_page_asks_for_no_more(void **state)
{
    (void)state;
    struct fixture f = { .cancel_in_cb = true };
    start(&f);
    f.srv.on_request = serve_pages;
    f.req = sw_kube_list(f.k, &pods, NULL, NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    run_for(f.loop, 1000);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.srv.n_requests, 1);
    tear_down(&f);
}

struct kept {
    struct json_object *first;
    int n;
};

static void keep_first(const struct sw_kube_answer *a, void *arg)
{
    struct kept *kept = arg;
    kept->n++;
    if (!kept->first)
        kept->first = json_object_get(sw_json_at(a->items, 0));
}

static void a_list_keeps_only_the_fields_asked_for(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct kept kept = { 0 };
    static const char *const fields[] = { "metadata.labels", NULL };
    start(&f);
    f.body = "{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":["
             "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":{\"x\":\"y\"},"
             "\"managedFields\":[1,2]},\"status\":{\"images\":[1]}}]}";
    sw_kube_list(f.k, &nodes, NULL, &(struct sw_request_opts){ .fields = fields }, keep_first,
                 &kept);
    run_until(f.loop, &kept.n, 1);
    struct json_object *want = json_tokener_parse(
        "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":{\"x\":\"y\"}}}");
    assert_true(sw_json_equal(kept.first, want));
    json_object_put(want);
    json_object_put(kept.first);
    tear_down(&f);
}

static void a_get_may_leave_fields_out(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    static const char *const fields[] = { "!metadata.name", NULL };
    start(&f);
    sw_kube_get(f.k, &pods, "ns", "a", &(struct sw_request_opts){ .fields = fields }, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    assert_string_equal(f.name, "");
    static const char *const bad[] = { "metadata..name", NULL };
    sw_kube_get(f.k, &pods, "ns", "a", &(struct sw_request_opts){ .fields = bad }, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.code, SW_INVALID);
    tear_down(&f);
}

/* ---- trying again -------------------------------------------------------------------------------
 */

static void without_retries_there_is_one_try(void **state)
{
    (void)state;
    struct fixture f = { .status = 503 };
    start(&f);
    f.status = 503;
    f.body = "";
    sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    run_for(f.loop, 60000);
    assert_int_equal(f.srv.n_requests, 1);
    tear_down(&f);
}

static void retry_after_is_waited_for(void **state)
{
    (void)state;
    struct fixture f = { .fail_first = 1 };
    start(&f);
    f.status = 429;
    f.headers = "Retry-After: 7\r\n";
    f.body = "";
    int64_t began_ms = sw_loop_now_ms(f.loop);
    struct json_object *body = json_object_new_object();
    /* refused before it was looked at: a create may be repeated too */
    sw_kube_create(f.k, &pods, "ns", NULL, body, &(struct sw_request_opts){ .retries = 2 }, cb, &f);
    json_object_put(body);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    assert_true(f.at_ms - began_ms >= 7000 && f.at_ms - began_ms < 9000);
    assert_int_equal(f.srv.n_requests, 2);
    tear_down(&f);
}

static void retry_after_is_told_when_tries_are_used_up(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.status = 429;
    f.headers = "Retry-After: 7\r\n";
    f.body = "";
    sw_kube_get(f.k, &pods, "ns", "p", &(struct sw_request_opts){ .retries = 2 }, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_UNAVAILABLE);
    assert_int_equal(f.retry_after_ms, 7000);
    assert_int_equal(f.srv.n_requests, 3);
    assert_counts(f.k, "n{verb=\"get\",resource=\"pods\",code=\"429\"} 3\n");
    tear_down(&f);
}

static void a_create_that_may_have_happened_is_not_repeated(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.status = 500;
    f.body = "";
    struct json_object *body = json_object_new_object();
    sw_kube_create(f.k, &pods, "ns", NULL, body, &(struct sw_request_opts){ .retries = 5 }, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.srv.n_requests, 1);
    sw_kube_apply(f.k, &pods, "ns", "p", body, &(struct sw_request_opts){ .retries = 5 }, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.srv.n_requests, 7);
    const struct sw_request_opts dry_run = { .retries = 2, .dry_run = true };
    sw_kube_create(f.k, &pods, "ns", NULL, body, &dry_run, cb, &f);
    run_until(f.loop, &f.n, 3);
    assert_int_equal(f.srv.n_requests, 10);
    json_object_put(body);
    tear_down(&f);
}

/* How often an apply, or with @uid a delete, is sent to a server that answers 409 and @body. */
static size_t n_tries_at_a_conflict(const char *body, struct json_object *doc, const char *uid)
{
    struct fixture f = { 0 };
    const struct sw_request_opts opts = { .retries = 3, .uid = uid };
    start(&f);
    f.status = 409;
    f.body = body;
    if (uid)
        sw_kube_delete(f.k, &pods, "ns", "p", &opts, cb, &f);
    else
        sw_kube_apply(f.k, &pods, "ns", "p", doc, &opts, cb, &f);
    run_until(f.loop, &f.n, 1);
    const size_t n = f.srv.n_requests;
    tear_down(&f);
    return n;
}

static void a_conflict_with_a_writer_of_the_same_moment_is_repeated(void **state)
{
    (void)state;
    static const char modified[] =
        "{\"kind\":\"Status\",\"message\":\"the object has been modified\"}";
    static const char managed[] = "{\"kind\":\"Status\",\"message\":\"Apply failed\",\"details\":"
                                  "{\"causes\":[{\"reason\":\"FieldManagerConflict\"}]}}";
    static const char another[] = "{\"kind\":\"Status\",\"message\":"
                                  "\"Precondition failed: UID in precondition: a, b\"}";
    struct json_object *doc = json_object_new_object();
    assert_int_equal(n_tries_at_a_conflict(modified, doc, NULL), 4);
    assert_int_equal(n_tries_at_a_conflict(modified, NULL, "a"), 4);
    assert_int_equal(n_tries_at_a_conflict(managed, doc, NULL), 1);
    assert_int_equal(n_tries_at_a_conflict(another, NULL, "a"), 1);
    sw_json_set_str(doc, "7", "metadata", "resourceVersion", NULL);
    assert_int_equal(n_tries_at_a_conflict(modified, doc, NULL), 1);
    json_object_put(doc);
}

static void what_the_input_is_to_blame_for_is_not_repeated(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    f.status = 500;
    f.body = "{\"kind\":\"Status\",\"message\":\"failed to create typed patch object: x\"}";
    struct json_object *body = json_object_new_object();
    sw_kube_apply(f.k, &pods, "ns", "p", body, &(struct sw_request_opts){ .retries = 5 }, cb, &f);
    json_object_put(body);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_INVALID);
    assert_int_equal(f.srv.n_requests, 1);
    tear_down(&f);
}

static void a_deadline_ends_what_is_never_answered(void **state)
{
    (void)state;
    struct fixture f = { .silent = true };
    start(&f);
    int64_t began_ms = sw_loop_now_ms(f.loop);
    sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_UNAVAILABLE);
    assert_int_equal(f.http_status, 0);
    assert_int_equal(f.at_ms - began_ms, 30000);
    assert_non_null(strstr(f.words, "get pods 'ns/p': http://127.0.0.1:"));
    assert_non_null(strstr(f.words, "no answer within 30 s"));
    sw_kube_get(f.k, &pods, "ns", "p", &(struct sw_request_opts){ .timeout_ms = 50 }, cb, &f);
    run_until(f.loop, &f.n, 2);
    assert_int_equal(f.at_ms - began_ms, 30050);
    tear_down(&f);
}

static void a_connection_closed_instead_of_an_answer_is_unavailable(void **state)
{
    (void)state;
    struct fixture f = { .hang_up = true, .fail_first = 1000 };
    start(&f);
    sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_UNAVAILABLE);
    assert_non_null(strstr(f.words, "without an answer"));
    tear_down(&f);
}

static void the_server_going_down_and_up_is_told_once(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    assert_true(sw_kube_is_up(f.k));
    server_down(&f.srv);
    for (int i = 1; i <= 3; i++) {
        sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
        run_until(f.loop, &f.n, i);
        assert_int_equal(f.code, SW_UNAVAILABLE);
    }
    assert_int_equal(f.n_down, 1);
    assert_non_null(strstr(f.why, "Connection refused"));
    assert_false(sw_kube_is_up(f.k));
    server_listen(&f.srv);
    sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.n, 4);
    assert_int_equal(f.code, 0);
    assert_int_equal(f.n_up, 1);
    tear_down(&f);
}

static void one_lost_answer_does_not_mean_that_the_server_is_down(void **state)
{
    (void)state;
    struct fixture f = { .hang_up = true, .fail_first = 1 };
    start(&f);
    sw_kube_get(f.k, &pods, "ns", "p", &(struct sw_request_opts){ .retries = 1 }, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, 0);
    assert_int_equal(f.n_down, 0);
    tear_down(&f);
}

static void a_name_that_cannot_be_resolved_is_said(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    struct sw_kube *k;
    SW_ERR(err);
    start_as(&f, false, NULL, (struct sw_kube_opts){ 0 });
    struct sw_kube_config *c = sw_kube_config_new("http://no-such-host.invalid:1");
    assert_int_equal(sw_kube_new(f.loop, c, NULL, &k, &err), 0);
    sw_kube_get(k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_UNAVAILABLE);
    assert_non_null(strstr(f.words, "cannot be resolved"));
    sw_kube_config_free(c);
    sw_kube_free(k);
    tear_down(&f);
}

static void a_server_that_is_no_address_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "127.0.0.1:80", "ftp://x", "https://", "https://a b" };
    struct sw_loop *loop = sw_loop_new(NULL);
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_ERR(err);
        struct sw_kube *k = NULL;
        struct sw_kube_config *c = sw_kube_config_new(bad[i]);
        assert_int_equal(sw_kube_new(loop, c, NULL, &k, &err), SW_INVALID);
        assert_non_null(strstr(sw_err_text(&err), "server"));
        sw_kube_config_free(c);
    }
    sw_loop_free(loop);
}

/* ---- many at once, and ends ---------------------------------------------------------------------
 */

static void only_so_many_are_in_flight_and_the_rest_wait(void **state)
{
    (void)state;
    struct fixture f = { .silent = true };
    start_as(&f, true, NULL, (struct sw_kube_opts){ .max_in_flight = 3 });
    for (int i = 0; i < 10; i++)
        sw_kube_get(f.k, &pods, "ns", "p", &(struct sw_request_opts){ .timeout_ms = 1000 }, cb, &f);
    run_for(f.loop, 900);
    assert_int_equal(f.srv.n_requests, 3);
    run_until(f.loop, &f.n, 10);
    assert_int_equal(f.srv.n_requests, 10); /* each had its own second */
    tear_down(&f);
}

static void what_goes_ahead_is_sent_before_what_waits(void **state)
{
    (void)state;
    struct fixture f = { .silent = true };
    start_as(&f, true, NULL, (struct sw_kube_opts){ .max_in_flight = 1 });
    struct sw_kube_request *first = sw_kube_get(f.k, &nodes, NULL, "first", NULL, cb, &f);
    (void)sw_kube_get(f.k, &nodes, NULL, "second", NULL, cb, &f);
    (void)sw_kube_get(f.k, &nodes, NULL, "ahead", &(struct sw_request_opts){ .ahead = true }, cb,
                      &f);
    run_until(f.loop, &f.srv.n_requests, 1);
    sw_kube_cancel(first);
    run_until(f.loop, &f.srv.n_requests, 2);
    assert_string_equal(f.seen_path, "/api/v1/nodes/ahead");
    tear_down(&f);
}

static void connections_are_used_again(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start(&f);
    for (int i = 1; i <= 20; i++) {
        sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
        run_until(f.loop, &f.n, i);
    }
    assert_int_equal(f.srv.n_conns, 1);
    tear_down(&f);
}

static void nothing_comes_after_a_cancel(void **state)
{
    (void)state;
    struct fixture f = { .silent = true };
    start(&f);
    struct sw_kube_request *running = sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.srv.n_requests, 1);
    struct sw_kube_request *new = sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
    sw_kube_cancel(running);
    sw_kube_cancel(new);
    sw_kube_cancel(NULL);
    run_for(f.loop, 100000);
    assert_int_equal(f.n, 0);
    tear_down(&f);
}

static void a_request_may_be_cancelled_in_its_own_answer(void **state)
{
    (void)state;
    struct fixture f = { .cancel_in_cb = true };
    start(&f);
    f.req = sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    run_for(f.loop, 1000);
    assert_int_equal(f.n, 1);
    tear_down(&f);
}

static void freeing_the_client_ends_everything(void **state)
{
    (void)state;
    struct fixture f = { .silent = true };
    start_as(&f, true, NULL, (struct sw_kube_opts){ .max_in_flight = 2 });
    for (int i = 0; i < 5; i++)
        sw_kube_get(f.k, &pods, "ns", "p", &(struct sw_request_opts){ .retries = 3 }, cb, &f);
    run_until(f.loop, &f.srv.n_requests, 2);
    sw_kube_free(SW_TAKE(f.k));
    run_for(f.loop, 100000);
    assert_int_equal(f.n, 0);
    tear_down(&f);
}

static void the_client_may_be_freed_in_an_answer(void **state)
{
    (void)state;
    struct fixture f = { .free_in_cb = true };
    start(&f);
    for (int i = 0; i < 5; i++)
        sw_kube_get(f.k, &pods, "ns", "p", NULL, cb, &f);
    run_until(f.loop, &f.n, 1);
    run_for(f.loop, 1000);
    assert_int_equal(f.n, 1);
    tear_down(&f);
}

static void an_answer_that_is_too_large_is_refused(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    start_as(&f, false, NULL, (struct sw_kube_opts){ 0 });
    char *body = sw_alloc((1 << 20) + 1);
    memset(body, 'x', 1 << 20);
    body[1 << 20] = '\0';
    f.body = body;
    sw_kube_logs(f.k, "ns", "p", &(struct sw_request_opts){ .limit_bytes = 1000 }, cb, &f);
    run_until(f.loop, &f.n, 1);
    assert_int_equal(f.code, SW_INVALID);
    assert_non_null(strstr(f.words, "larger than"));
    free(body);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_get_asks_for_the_object_and_gives_it),
        cmocka_unit_test(names_are_escaped_in_paths),
        cmocka_unit_test(an_empty_name_or_namespace_is_refused_without_asking),
        cmocka_unit_test(an_apply_is_a_patch_with_a_field_manager),
        cmocka_unit_test(each_patch_has_its_content_type),
        cmocka_unit_test(create_posts_and_update_puts),
        cmocka_unit_test(a_delete_carries_its_preconditions),
        cmocka_unit_test(logs_are_text_with_limits),
        cmocka_unit_test(a_log_that_is_followed_has_neither_end_nor_turn),
        cmocka_unit_test(a_raw_request_sends_what_it_is_given),
        cmocka_unit_test(a_raw_path_must_be_one),
        cmocka_unit_test(every_try_is_counted_by_verb_resource_and_status),
        cmocka_unit_test(it_says_who_it_is),
        cmocka_unit_test(a_name_and_a_password_are_basic_authentication),
        cmocka_unit_test(a_proxy_is_asked_instead_of_the_server),
        cmocka_unit_test(this_machine_is_behind_no_proxy),
        cmocka_unit_test(a_value_that_would_be_another_header_is_refused),
        cmocka_unit_test(an_empty_identity_is_never_sent),
        cmocka_unit_test(a_trace_tells_whose_a_request_was),
        cmocka_unit_test(a_token_file_is_read_again_when_it_changes),
        cmocka_unit_test(a_token_file_that_is_missing_is_named),
        cmocka_unit_test(each_status_has_its_code_reason_and_words),
        cmocka_unit_test(a_body_that_is_no_status_is_quoted_in_short),
        cmocka_unit_test(an_answer_that_is_no_json_is_invalid),
        cmocka_unit_test(warnings_are_told_once_each),
        cmocka_unit_test(an_answer_has_its_own_warnings),
        cmocka_unit_test(a_list_comes_in_pages),
        cmocka_unit_test(a_list_ends_at_the_page_that_fails),
        cmocka_unit_test(a_list_cancelled_at_a_page_asks_for_no_more),
        cmocka_unit_test(a_list_keeps_only_the_fields_asked_for),
        cmocka_unit_test(a_get_may_leave_fields_out),
        cmocka_unit_test(without_retries_there_is_one_try),
        cmocka_unit_test(retry_after_is_waited_for),
        cmocka_unit_test(retry_after_is_told_when_tries_are_used_up),
        cmocka_unit_test(a_create_that_may_have_happened_is_not_repeated),
        cmocka_unit_test(a_conflict_with_a_writer_of_the_same_moment_is_repeated),
        cmocka_unit_test(what_the_input_is_to_blame_for_is_not_repeated),
        cmocka_unit_test(a_deadline_ends_what_is_never_answered),
        cmocka_unit_test(a_connection_closed_instead_of_an_answer_is_unavailable),
        cmocka_unit_test(the_server_going_down_and_up_is_told_once),
        cmocka_unit_test(one_lost_answer_does_not_mean_that_the_server_is_down),
        cmocka_unit_test(a_name_that_cannot_be_resolved_is_said),
        cmocka_unit_test(a_server_that_is_no_address_is_refused),
        cmocka_unit_test(only_so_many_are_in_flight_and_the_rest_wait),
        cmocka_unit_test(what_goes_ahead_is_sent_before_what_waits),
        cmocka_unit_test(connections_are_used_again),
        cmocka_unit_test(nothing_comes_after_a_cancel),
        cmocka_unit_test(a_request_may_be_cancelled_in_its_own_answer),
        cmocka_unit_test(freeing_the_client_ends_everything),
        cmocka_unit_test(the_client_may_be_freed_in_an_answer),
        cmocka_unit_test(an_answer_that_is_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

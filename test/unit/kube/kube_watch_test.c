/* Watches: everything that there is gets told, once, whatever happens to the connection. */
#include "kube/kube.h"

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube_server.h"

#include <json-c/json.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct sw_kind nodes = {
    .group = "", .version = "v1", .api_version = "v1", .kind = "Node", .plural = "nodes"
};

/** One test's world. What the watch tells is written down in one line: "+a =sync ~a -a". */
struct fixture {
    struct sw_loop *loop;
    struct server srv;
    struct sw_kube *k;
    struct sw_kube_watch *w;
    char *told;
    char *words; /* of the last error */
    int n_told;
    struct json_object *last;
    const char *close_at; /* an event, as written: close the watch in it */
    bool free_at;         /* free the client there instead */
    /* the server: lists are answered from here in turn, the last one again and again */
    const char *lists[8];
    int n_lists, n_watches;
    struct conn *watch; /* the open one */
    char *list_path;
    char *watch_path; /* of the last one */
    int watch_status; /* 0: 200 */
    const char *watch_reason;
    int fail_watches; /* so many get @watch_status */
};

#define LIST(version, items)                                                                       \
    "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version    \
    "\"},\"items\":[" items "]}"
#define NODE(name, uid, version)                                                                   \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version      \
    "\",\"labels\":{\"v\":\"" version                                                              \
    "\"},\"managedFields\":[{\"manager\":\"x\"}]},\"status\":{}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(version)                                                                          \
    EVENT("BOOKMARK", "{\"kind\":\"Node\",\"metadata\":{\"resourceVersion\":\"" version "\"}}")
#define EXPIRED                                                                                    \
    EVENT("ERROR", "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"too old\","          \
                   "\"reason\":\"Expired\",\"code\":410}")

static void on_watch_request(struct fixture *f, struct sreq *req)
{
    f->n_watches++;
    free(f->watch_path);
    f->watch_path = sw_strdup(req->path);
    if (f->fail_watches > 0) {
        f->fail_watches--;
        reply_status(req, f->watch_status, f->watch_reason ? f->watch_reason : "", "no watch");
        return;
    }
    f->watch = req->conn;
    reply_chunked(req);
}

static void on_request(struct server *srv SW_UNUSED, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    if (strstr(req->path, "watch=true")) {
        on_watch_request(f, req);
        return;
    }
    int i = 0;
    while (i < f->n_lists && i + 1 < (int)SW_COUNT(f->lists) && f->lists[i + 1])
        i++;
    f->n_lists++;
    free(f->list_path);
    f->list_path = sw_strdup(req->path);
    const char *list = f->lists[i];
    if (list && list[0] != '{') /* "403" */
        reply_status(req, atoi(list), "", "not so");
    else
        reply(req, list ? 200 : 503, list ? list : "");
}

static void note(struct fixture *f, const char *mark, const char *name)
{
    char *longer = sw_printf("%s%s%s%s", f->told, f->told[0] ? " " : "", mark, name);
    free(f->told);
    f->told = longer;
    f->n_told++;
    if (f->close_at && sw_ends_with(f->told, f->close_at)) {
        f->close_at = NULL;
        if (f->free_at)
            sw_kube_free(SW_TAKE(f->k));
        else
            sw_kube_watch_close(f->w);
    }
}

static void on_event(const struct sw_watch_event *e, void *arg)
{
    struct fixture *f = arg;
    static const char *const marks[] = { "+", "~", "-", "=sync", "!" };
    if (e->type == SW_WATCH_ERROR) {
        free(f->words);
        f->words = sw_strdup(sw_err_text(e->err));
    }
    if (e->object) {
        (void)json_object_put(f->last);
        f->last = json_object_get(e->object);
    }
    if (e->type == SW_WATCH_DELETED && !e->object)
        note(f, marks[e->type], "?"); /* a deletion that was missed */
    note(f, marks[e->type],
         e->type == SW_WATCH_ERROR ? sw_code_name(e->code)
         : e->name                 ? e->name
                                   : "");
}

static void start(struct fixture *f, const struct sw_watch_opts *opts)
{
    f->loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    f->told = sw_strdup("");
    f->srv.on_request = on_request;
    f->srv.arg = f;
    server_start(&f->srv, f->loop);
    struct sw_kube_config *c = server_config(&f->srv);
    SW_ERR(err);
    assert_int_equal(sw_kube_new(f->loop, c, &(struct sw_kube_opts){ .seed = 1 }, &f->k, &err), 0);
    sw_kube_config_free(c);
    f->w = sw_kube_watch_open(f->k, &nodes, opts, on_event, f);
    assert_int_equal(f->n_told, 0);
}

static void tear_down(struct fixture *f)
{
    sw_kube_free(f->k);
    server_stop(&f->srv);
    sw_loop_free(f->loop);
    (void)json_object_put(f->last);
    free(f->told);
    free(f->words);
    free(f->watch_path);
    free(f->list_path);
}

/** Start, and wait until the first watch is open. */
static void start_watching(struct fixture *f, const struct sw_watch_opts *opts)
{
    start(f, opts);
    run_until(f->loop, &f->n_watches, 1);
}

static void a_list_is_told_then_events(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5") "," NODE("b", "2", "6")) } };
    start_watching(&f, NULL);
    assert_string_equal(f.told, "+a +b =sync");
    assert_true(sw_kube_watch_is_synced(f.w));
    assert_non_null(strstr(f.watch_path, "/api/v1/nodes?watch=true&allowWatchBookmarks=true&"
                                         "resourceVersion=10&timeoutSeconds="));
    send_chunk(f.watch, EVENT("ADDED", NODE("c", "3", "11")));
    send_chunk(f.watch,
               EVENT("MODIFIED", NODE("a", "1", "12")) EVENT("DELETED", NODE("b", "2", "13")));
    run_until(f.loop, &f.n_told, 6);
    assert_string_equal(f.told, "+a +b =sync +c ~a -b");
    assert_int_equal(sw_kube_watch_n_objects(f.w), 2);
    assert_counts(f.k, "n{verb=\"list\",resource=\"nodes\",code=\"200\"} 1\n"
                       "n{verb=\"watch\",resource=\"nodes\",code=\"200\"} 1\n");
    tear_down(&f);
}

static void without_a_list_the_watch_brings_what_there_is(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("90", "") } };
    start_watching(&f, &(struct sw_watch_opts){ .unlisted = true });
    assert_null(strstr(f.watch_path, "resourceVersion"));
    send_chunk(f.watch, EVENT("ADDED", NODE("b", "2", "6")) EVENT("ADDED", NODE("a", "1", "5")));
    run_until(f.loop, &f.n_told, 2);
    assert_false(sw_kube_watch_is_synced(f.w));
    send_chunk(f.watch, BOOKMARK("50"));
    run_until(f.loop, &f.n_told, 3);
    assert_string_equal(f.told, "+b +a =sync");
    end_chunks(f.watch);
    run_until(f.loop, &f.n_watches, 2);
    assert_non_null(strstr(f.watch_path, "resourceVersion=50&"));
    assert_int_equal(f.n_lists, 0);
    tear_down(&f);
}

static void without_a_list_a_watch_cut_short_lists_after_all(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("90", NODE("a", "1", "5") "," NODE("b", "2", "6")) } };
    start_watching(&f, &(struct sw_watch_opts){ .unlisted = true });
    send_chunk(f.watch, EVENT("ADDED", NODE("b", "2", "6")) EVENT("ADDED", NODE("c", "3", "7")));
    run_until(f.loop, &f.n_told, 2);
    conn_reset(f.watch); /* a is older than what was told */
    run_until(f.loop, &f.n_watches, 2);
    assert_string_equal(f.told, "+b +c +a -? -c =sync");
    assert_non_null(strstr(f.watch_path, "resourceVersion=90&"));
    assert_int_equal(f.n_lists, 1);
    tear_down(&f);
}

static void an_event_may_be_split_anywhere(void **state)
{
    (void)state;
    static const char text[] = EVENT("ADDED", NODE("a", "1", "11"))
        EVENT("MODIFIED", NODE("a", "1", "12"));
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        char one[2] = { text[i] };
        send_chunk(f.watch, one);
        if (i % 7 == 0)
            sw_loop_step(f.loop, 0);
    }
    run_until(f.loop, &f.n_told, 3);
    assert_string_equal(f.told, "=sync +a ~a");
    tear_down(&f);
}

static void a_broken_watch_goes_on_where_it_stopped(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5")) } };
    start_watching(&f, NULL);
    send_chunk(f.watch, EVENT("MODIFIED", NODE("a", "1", "12")) "{\"type\":\"ADD");
    run_until(f.loop, &f.n_told, 3);
    conn_reset(f.watch);
    run_until(f.loop, &f.n_watches, 2);
    assert_non_null(strstr(f.watch_path, "resourceVersion=12&"));
    assert_int_equal(f.n_lists, 1);
    send_chunk(f.watch, EVENT("ADDED", NODE("b", "2", "13")));
    run_until(f.loop, &f.n_told, 4);
    assert_string_equal(f.told, "+a =sync ~a +b");
    tear_down(&f);
}

static void count_resumed(void *arg)
{
    int *n = arg;
    ++*n;
}

static void a_connection_that_broke_off_is_told_when_it_is_answered_again(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5")) } };
    int n_resumed = 0;
    start_watching(&f, NULL);
    sw_kube_on_resumed(f.k, count_resumed, &n_resumed);
    send_chunk(f.watch, BOOKMARK("11"));
    end_chunks(f.watch); /* as the API server ends it after timeoutSeconds */
    run_until(f.loop, &f.n_watches, 2);
    send_chunk(f.watch, EVENT("ADDED", NODE("b", "2", "12")));
    run_until(f.loop, &f.n_told, 3);
    assert_int_equal(n_resumed, 0);
    conn_reset(f.watch);
    run_until(f.loop, &n_resumed, 1);
    assert_int_equal(f.n_watches, 3);
    send_chunk(f.watch, EVENT("ADDED", NODE("c", "3", "13")));
    run_until(f.loop, &f.n_told, 4);
    assert_int_equal(n_resumed, 1);
    tear_down(&f);
}

static void a_bookmark_moves_the_place_to_go_on_from(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    send_chunk(f.watch, BOOKMARK("500"));
    end_chunks(f.watch); /* as the API server ends a watch after timeoutSeconds */
    run_until(f.loop, &f.n_watches, 2);
    assert_non_null(strstr(f.watch_path, "resourceVersion=500&"));
    assert_string_equal(f.told, "=sync");
    tear_down(&f);
}

static void expired_lists_again_and_tells_the_difference(void **state)
{
    (void)state;
    struct fixture f = { .lists = {
                             LIST("10", NODE("a", "1", "5") "," NODE("b", "2", "6") "," NODE(
                                            "c", "3", "7") "," NODE("d", "4", "8")),
                             LIST("90", NODE("a", "1", "5") "," NODE("b", "2", "60") "," NODE(
                                            "d", "44", "80") "," NODE("e", "5", "85")) } };
    start_watching(&f, NULL);
    send_chunk(f.watch, EXPIRED);
    run_until(f.loop, &f.n_watches, 2);
    /* a: the same; b: changed; d: another one of that name; e: new; c: gone */
    assert_string_equal(f.told, "+a +b +c +d =sync ~b -? -d +d +e -? -c =sync");
    assert_non_null(strstr(f.watch_path, "resourceVersion=90&"));
    assert_int_equal(sw_kube_watch_n_objects(f.w), 4);
    tear_down(&f);
}

static void no_list_takes_the_watch_back_in_time(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5")), "504",
                                    LIST("8", NODE("b", "2", "6")) } };
    start_watching(&f, NULL);
    assert_null(strstr(f.list_path, "resourceVersion"));
    send_chunk(f.watch, EXPIRED);
    run_until(f.loop, &f.n_lists, 2);
    assert_non_null(strstr(f.list_path, "resourceVersion=10&resourceVersionMatch=NotOlderThan"));
    run_until(f.loop, &f.n_watches, 2); /* the server has been set back: it knows no version 10 */
    assert_null(strstr(f.list_path, "resourceVersion"));
    assert_string_equal(f.told, "+a =sync +b -? -a =sync");
    tear_down(&f);
}

static void a_watch_refused_as_too_old_lists_again(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5")) },
                         .fail_watches = 1,
                         .watch_status = 410,
                         .watch_reason = "Expired" };
    start(&f, NULL);
    run_until(f.loop, &f.n_watches, 2);
    assert_int_equal(f.n_lists, 2);
    assert_string_equal(f.told, "+a =sync =sync");
    tear_down(&f);
}

static void garbage_ends_the_watch_but_not_the_watching(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    send_chunk(f.watch, EVENT("ADDED", NODE("a", "1", "11")) "<html>\n");
    run_until(f.loop, &f.n_watches, 2);
    assert_non_null(strstr(f.watch_path, "resourceVersion=11&"));
    send_chunk(f.watch, EVENT("ADDED", NODE("b", "2", "12")));
    run_until(f.loop, &f.n_told, 3);
    assert_string_equal(f.told, "=sync +a +b");
    tear_down(&f);
}

static void an_event_without_a_name_is_garbage(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    send_chunk(f.watch, EVENT("ADDED", "{\"metadata\":{\"resourceVersion\":\"11\"}}"));
    run_until(f.loop, &f.n_watches, 2);
    assert_non_null(strstr(f.watch_path, "resourceVersion=10&"));
    assert_string_equal(f.told, "=sync");
    tear_down(&f);
}

static void doubled_and_late_events_are_told_once(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    send_chunk(f.watch, EVENT("ADDED", NODE("a", "1", "11")) EVENT("ADDED", NODE("a", "1", "11")));
    send_chunk(f.watch,
               EVENT("MODIFIED", NODE("a", "1", "14")) EVENT("MODIFIED", NODE("a", "1", "13")));
    send_chunk(f.watch,
               EVENT("DELETED", NODE("a", "1", "15")) EVENT("DELETED", NODE("a", "1", "15")));
    send_chunk(f.watch,
               EVENT("MODIFIED", NODE("a", "1", "14")) EVENT("ADDED", NODE("b", "2", "16")));
    run_until(f.loop, &f.n_told, 5);
    assert_string_equal(f.told, "=sync +a ~a -a +b");
    tear_down(&f);
}

static void silence_for_too_long_begins_anew(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    int64_t began_ms = sw_loop_now_ms(f.loop);
    run_until(f.loop, &f.n_watches, 2);
    int64_t took_ms = sw_loop_now_ms(f.loop) - began_ms;
    assert_true(took_ms >= 300000 && took_ms < 302000);
    assert_int_equal(f.n_lists, 1);
    assert_string_equal(f.told, "=sync");
    tear_down(&f);
}

static void bookmarks_keep_a_quiet_watch_open(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    for (int i = 0; i < 10; i++) {
        run_for(f.loop, 60000);
        send_chunk(f.watch, BOOKMARK("11"));
    }
    run_for(f.loop, 60000);
    assert_int_equal(f.n_watches, 1);
    tear_down(&f);
}

static void a_server_that_ends_every_watch_at_once_is_asked_ever_more_rarely(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") },
                         .fail_watches = 1000000,
                         .watch_status = 503 };
    start(&f, NULL);
    run_for(f.loop, 600000);
    assert_true(f.n_watches > 10 && f.n_watches < 60);
    assert_true(f.n_lists > 1); /* perhaps the version is to blame */
    assert_non_null(strstr(f.told, "!unavailable"));
    assert_null(strstr(f.told, "!unavailable !unavailable"));
    tear_down(&f);
}

static void a_kind_that_may_not_be_listed_is_told_once_and_tried_on(void **state)
{
    (void)state;
    struct fixture f = { .lists = { "403", "403", "403", LIST("10", NODE("a", "1", "5")) } };
    start(&f, NULL);
    run_until(f.loop, &f.n_watches, 1);
    run_for(f.loop, 1000);
    assert_string_equal(f.told, "!forbidden +a =sync =sync");
    assert_string_equal(f.words, "list nodes: not so");
    tear_down(&f);
}

/* An API server that has just started allows nothing until it has read the roles. */
static void a_watch_that_worked_is_not_reported_for_a_short_refusal(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5")), "403", "401", "403",
                                    LIST("20", NODE("a", "1", "5")) } };
    start_watching(&f, NULL);
    send_chunk(f.watch, EXPIRED);
    run_until(f.loop, &f.n_watches, 2);
    assert_int_equal(f.n_lists, 5);
    assert_string_equal(f.told, "+a =sync =sync");
    tear_down(&f);
}

static void a_watch_that_worked_is_reported_when_the_refusal_lasts(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5")), "403" },
                         .fail_watches = 1000000,
                         .watch_status = 403 };
    start(&f, NULL);
    run_for(f.loop, 4000);
    assert_string_equal(f.told, "+a =sync");
    assert_false(sw_kube_watch_is_established(f.w));
    run_for(f.loop, 60000);
    assert_string_equal(f.told, "+a =sync !forbidden");
    assert_false(sw_kube_watch_is_established(f.w));
    f.fail_watches = 0;
    f.lists[1] = LIST("30", NODE("a", "1", "5"));
    run_for(f.loop, 60000);
    assert_string_equal(f.told, "+a =sync !forbidden =sync =sync");
    assert_true(sw_kube_watch_is_established(f.w));
    tear_down(&f);
}

static void a_server_that_is_down_is_waited_for(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5")) } };
    start_watching(&f, NULL);
    server_down(&f.srv);
    run_for(f.loop, 120000);
    assert_false(sw_kube_is_up(f.k));
    assert_string_equal(f.told, "+a =sync");
    server_listen(&f.srv);
    int64_t back_ms = sw_loop_now_ms(f.loop);
    run_until(f.loop, &f.n_watches, 2);
    assert_true(sw_loop_now_ms(f.loop) - back_ms <= 5200);
    run_for(f.loop, 1000);
    assert_true(sw_kube_is_up(f.k));
    assert_int_equal(sw_kube_watch_n_objects(f.w), 1);
    tear_down(&f);
}

static void when_the_server_is_back_no_watch_waits(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    for (int i = 0; i < 10; i++)
        (void)sw_kube_watch_open(f.k, &nodes, NULL, on_event, &f);
    run_until(f.loop, &f.n_watches, 11);
    server_down(&f.srv);
    run_for(f.loop, 60000);
    server_listen(&f.srv);
    run_until(f.loop, &f.n_watches, 12);
    int64_t back_ms = sw_loop_now_ms(f.loop);
    run_until(f.loop, &f.n_watches, 22);
    assert_true(sw_loop_now_ms(f.loop) - back_ms <= 250); /* one had got through: all go on */
    tear_down(&f);
}

static void on_silent_watch(struct server *srv, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    if (strstr(req->path, "watch=true") && f->n_watches++ == 0)
        return; /* never answered */
    on_request(srv, req, arg);
}

static void a_watch_that_is_never_answered_is_given_up(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start(&f, NULL);
    f.srv.on_request = on_silent_watch;
    run_until(f.loop, &f.n_watches, 1);
    int64_t began_ms = sw_loop_now_ms(f.loop);
    run_until(f.loop, &f.n_watches, 2);
    int64_t took_ms = sw_loop_now_ms(f.loop) - began_ms;
    assert_true(took_ms >= 30000 && took_ms < 31000);
    tear_down(&f);
}

static void only_the_fields_asked_for_are_kept_and_what_a_watch_needs(void **state)
{
    (void)state;
    static const char *const fields[] = { "metadata.labels", NULL };
    struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5")) } };
    start_watching(&f, &(struct sw_watch_opts){ .fields = fields });
    struct json_object *want = json_tokener_parse(
        "{\"metadata\":{\"name\":\"a\",\"uid\":\"1\",\"resourceVersion\":\"5\","
        "\"labels\":{\"v\":\"5\"}}}");
    assert_true(sw_json_equal(f.last, want));
    json_object_put(want);
    send_chunk(f.watch, EVENT("MODIFIED", NODE("a", "1", "12")));
    run_until(f.loop, &f.n_told, 3);
    assert_string_equal(sw_obj_label(f.last, "v"), "12");
    assert_null(sw_json_find(f.last, "metadata", "managedFields", NULL));
    tear_down(&f);
}

static void a_watch_may_be_narrowed(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, &(struct sw_watch_opts){ .name = "n1",
                                                .label_selector = "a=b",
                                                .field_selector = "spec.x=y",
                                                .page_size = 7 });
    assert_non_null(strstr(f.srv.log, "GET /api/v1/nodes?labelSelector=a%3Db&fieldSelector="
                                      "metadata.name%3Dn1%2Cspec.x%3Dy&limit=7\n"));
    assert_non_null(
        strstr(f.watch_path, "fieldSelector=metadata.name%3Dn1%2Cspec.x%3Dy&watch=true"));
    tear_down(&f);
}

static void it_may_be_closed_in_each_of_its_events(void **state)
{
    (void)state;
    static const char *const at[] = { "+a", "=sync", "~a", "-?", "-b", "!forbidden" };
    for (size_t i = 0; i < SW_COUNT(at); i++) {
        for (int by_free = 0; by_free < 2; by_free++) {
            struct fixture f = { .lists = { LIST("10", NODE("a", "1", "5") "," NODE("b", "2", "6")),
                                            LIST("20", NODE("a", "1", "15")), "403" },
                                 .close_at = at[i],
                                 .free_at = by_free };
            start(&f, NULL);
            for (int n = 0; n < 20 && f.close_at; n++) {
                run_for(f.loop, 1000);
                if (f.watch && f.close_at && f.n_watches)
                    send_chunk(f.watch, EXPIRED);
                f.watch = NULL;
            }
            assert_null(f.close_at);
            int n = f.n_told;
            run_for(f.loop, 100000);
            assert_int_equal(f.n_told, n);
            tear_down(&f);
        }
    }
}

static void watches_do_not_take_the_places_of_requests(void **state)
{
    (void)state;
    struct fixture f = { .lists = { LIST("10", "") } };
    start_watching(&f, NULL);
    for (int i = 0; i < 40; i++)
        (void)sw_kube_watch_open(f.k, &nodes, NULL, on_event, &f);
    run_until(f.loop, &f.n_watches, 41);
    run_until(f.loop, &f.n_told, 41);
    assert_int_equal(f.n_lists, 41);
    tear_down(&f);
}

/* Many nodes of some 10 kB each, in pages: what the process keeps of them is small. */

enum { N_NODES = 5000 };

static char *big_node(int i)
{
    static char filler[9000];
    memset(filler, 'x', sizeof filler - 1);
    return sw_printf(
        "{\"metadata\":{\"name\":\"node-%05d\",\"uid\":\"%08d-aaaa-bbbb-cccc-1234567890ab\","
        "\"resourceVersion\":\"%d\",\"labels\":{\"kernel\":\"5.14\"},"
        "\"managedFields\":[{\"f\":\"%s\"}]},\"status\":{\"images\":[{\"names\":[\"a\",\"b\"],"
        "\"sizeBytes\":12345}]}}",
        i, i, i + 1, filler);
}

static void on_big_request(struct server *srv SW_UNUSED, struct sreq *req, void *arg)
{
    struct fixture *f = arg;
    if (strstr(req->path, "watch=true")) {
        on_watch_request(f, req);
        return;
    }
    const char *at = strstr(req->path, "continue=");
    int from = at ? atoi(at + strlen("continue=")) : 0, to = from + 500;
    SW_AUTO_CHARS *head =
        to < N_NODES ? sw_printf("{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":"
                                 "\"9000\",\"continue\":\"%d\"},\"items\":[",
                                 to)
                     : sw_strdup("{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":"
                                 "\"9000\"},\"items\":[");
    reply_chunked(req);
    send_chunk(req->conn, head);
    for (int i = from; i < to; i++) {
        SW_AUTO_CHARS *node = big_node(i);
        send_chunk(req->conn, node);
        send_chunk(req->conn, i + 1 < to ? "," : "]}");
    }
    end_chunks(req->conn);
}

/* there in sanitized builds, where mallinfo() knows nothing */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_bytes(void)
{
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void many_nodes_cost_little(void **state)
{
    (void)state;
    static const char *const fields[] = { "metadata.labels", NULL };
    struct fixture f = { 0 };
    f.loop = sw_loop_new(NULL);
    f.told = sw_strdup("");
    f.srv.on_request = on_big_request;
    f.srv.arg = &f;
    server_start(&f.srv, f.loop);
    struct sw_kube_config *c = server_config(&f.srv);
    SW_ERR(err);
    assert_int_equal(sw_kube_new(f.loop, c, NULL, &f.k, &err), 0);
    sw_kube_config_free(c);
    size_t before = heap_bytes();
    f.w = sw_kube_watch_open(f.k, &nodes, &(struct sw_watch_opts){ .fields = fields }, on_event,
                             &f);
    run_until(f.loop, &f.n_watches, 1);
    assert_int_equal(sw_kube_watch_n_objects(f.w), N_NODES);
    size_t kept = heap_bytes() - before;
    print_message("%zu bytes a node\n", kept / N_NODES);
    assert_true(kept > 0 && kept < N_NODES * 400);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_told_then_events),
        cmocka_unit_test(without_a_list_the_watch_brings_what_there_is),
        cmocka_unit_test(without_a_list_a_watch_cut_short_lists_after_all),
        cmocka_unit_test(an_event_may_be_split_anywhere),
        cmocka_unit_test(a_broken_watch_goes_on_where_it_stopped),
        cmocka_unit_test(a_connection_that_broke_off_is_told_when_it_is_answered_again),
        cmocka_unit_test(a_bookmark_moves_the_place_to_go_on_from),
        cmocka_unit_test(expired_lists_again_and_tells_the_difference),
        cmocka_unit_test(no_list_takes_the_watch_back_in_time),
        cmocka_unit_test(a_watch_refused_as_too_old_lists_again),
        cmocka_unit_test(garbage_ends_the_watch_but_not_the_watching),
        cmocka_unit_test(an_event_without_a_name_is_garbage),
        cmocka_unit_test(doubled_and_late_events_are_told_once),
        cmocka_unit_test(silence_for_too_long_begins_anew),
        cmocka_unit_test(bookmarks_keep_a_quiet_watch_open),
        cmocka_unit_test(a_server_that_ends_every_watch_at_once_is_asked_ever_more_rarely),
        cmocka_unit_test(a_kind_that_may_not_be_listed_is_told_once_and_tried_on),
        cmocka_unit_test(a_watch_that_worked_is_not_reported_for_a_short_refusal),
        cmocka_unit_test(a_watch_that_worked_is_reported_when_the_refusal_lasts),
        cmocka_unit_test(a_server_that_is_down_is_waited_for),
        cmocka_unit_test(when_the_server_is_back_no_watch_waits),
        cmocka_unit_test(a_watch_that_is_never_answered_is_given_up),
        cmocka_unit_test(only_the_fields_asked_for_are_kept_and_what_a_watch_needs),
        cmocka_unit_test(a_watch_may_be_narrowed),
        cmocka_unit_test(it_may_be_closed_in_each_of_its_events),
        cmocka_unit_test(watches_do_not_take_the_places_of_requests),
        cmocka_unit_test(many_nodes_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

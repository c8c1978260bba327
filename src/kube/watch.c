/* watch: list, watch, resume, list again, until closed. */
#include <json-c/json.h>
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "kube/internal.h"
#include "kube/observed.h"

enum {
    IDLE_MS = 300000,
    SERVER_S = 300, /* the server ends a watch after this time, or up to twice as long */
    RETRY_FIRST_MS = 200,
    RETRY_CAP_MS = 30000,
    DOWN_CAP_MS = 5000,     /* of retries while the server is unreachable */
    GOOD_LIFE_MS = 1000,    /* a watch that lasted so long has worked */
    FAILURES_TO_LIST = 3,   /* after so many failed watches the version may be the cause */
    FAILURES_TO_REPORT = 3, /* so many 5xx in a row are reported */
    REFUSED_MS = 5000,      /* refusals of a server that may have just started are kept so long */
    HTTP_TOO_LARGE_VERSION = 504,
    PAGED_LISTS = 2, /* after so many lists expired between pages: list all at once */
};

/** A watch; see kube.h. */
struct sw_kube_watch {
    struct sw_kube *k;
    LIST_ENTRY(sw_kube_watch) in_all;
    const struct sw_kind *kind;
    char *ns, *label_selector, *field_selector, *as_user;
    const char *purpose; /* static */
    char **fields;       /* ended by NULL */
    size_t max_tree_bytes;
    struct sw_projection *projection;
    int page_size, idle_ms;
    sw_watch_fn *cb;
    void *arg;

    bool closed;
    bool must_list; /* after a pause: list, else watch */
    bool partial;   /* there may be objects older than resource_version that were not reported */
    bool synced;
    bool any_version; /* the server does not have resource_version: list any */
    struct sw_timer *pause;
    struct sw_kube_request *list;
    struct sw_http_transfer *transfer;
    struct sw_stream *stream;
    struct printbuf *body;  /* of an error */
    char *resource_version; /* to watch from */
    struct observed *observed;
    bool counted;       /* this connection is in the counts */
    bool had_events;    /* this connection has delivered an event */
    int64_t began_ms;   /* when this connection was answered */
    int n_failures;     /* since the last connection that worked */
    int n_expired;      /* lists */
    int64_t refused_ms; /* when the first of the last answers 401 and 403 came; 0: none */
    int reported_error; /* the last code reported; 0: none since it worked */
    struct sw_err end;  /* why an ERROR event ended the connection */
};

static void start_list(struct sw_kube_watch *w);
static void start_watch(struct sw_kube_watch *w);

/* ---- reporting ----------------------------------------------------------------------------------
 */

static void report(struct sw_kube_watch *w, enum sw_watch_type type,
                   const struct observed_object *o, struct json_object *object)
{
    SW_ERR(none);
    struct sw_watch_event e = { .type = type, .kind = w->kind, .object = object, .err = &none };
    if (o) {
        e.ns = o->ns;
        e.name = o->name;
        e.uid = o->uid;
        e.resource_version = o->resource_version;
    }
    if (!w->closed)
        w->cb(&e, w->arg);
}

/** A list or an event says that an object exists. */
static void on_present(struct sw_kube_watch *w, const struct observed_object *o,
                       struct json_object *object, bool listed)
{
    switch (observed_put(w->observed, o, listed)) {
    case OBSERVED_NEW:
        report(w, SW_WATCH_ADDED, o, object);
        break;
    case OBSERVED_CHANGED:
        report(w, SW_WATCH_MODIFIED, o, object);
        break;
    case OBSERVED_REPLACED:
        report(w, SW_WATCH_DELETED, o, NULL);
        report(w, SW_WATCH_ADDED, o, object);
        break;
    case OBSERVED_SAME:
        break;
    }
}

static struct observed_object object_key(struct json_object *object)
{
    return (struct observed_object){ .ns = sw_obj_namespace(object),
                                     .name = sw_obj_name(object),
                                     .uid = sw_obj_uid(object),
                                     .resource_version = sw_json_str(object, "", "metadata",
                                                                     "resourceVersion", NULL) };
}

/* ---- pauses -------------------------------------------------------------------------------------
 */

static void on_pause_over(void *arg)
{
    struct sw_kube_watch *w = arg;
    struct sw_http *http = w->k->http;
    sw_http_enter(http);
    if (w->must_list)
        start_list(w);
    else
        start_watch(w);
    sw_http_leave(http);
}

/** Continue after a pause that grows with each failure; @asked_ms: the server's Retry-After. */
static void pause_after_failure(struct sw_kube_watch *w, int http_status, int64_t asked_ms)
{
    int64_t cap_ms = http_status ? RETRY_CAP_MS : DOWN_CAP_MS;
    w->n_failures++;
    if (http_status && w->n_failures % FAILURES_TO_LIST == 0)
        w->must_list = true;
    int64_t ms = kube_backoff_ms(w->k, w->n_failures, RETRY_FIRST_MS, cap_ms);
    if (asked_ms > ms)
        ms = asked_ms < RETRY_CAP_MS ? asked_ms : RETRY_CAP_MS;
    sw_timer_set(w->pause, ms);
}

/** Is an answer 401 or 403 likely to pass? An API server that has just started, or was given
 * another certificate, refuses what it allows a moment later, when it has read roles and keys. */
static bool refusal_passes(struct sw_kube_watch *w, int code)
{
    int64_t now_ms = sw_loop_now_ms(w->k->loop);
    if (code != SW_FORBIDDEN) {
        w->refused_ms = 0;
        return false;
    }
    if (!w->refused_ms)
        w->refused_ms = now_ms;
    bool is_back = w->k->back_ms && w->refused_ms - w->k->back_ms < REFUSED_MS;
    return (w->resource_version[0] || is_back) && now_ms - w->refused_ms < REFUSED_MS;
}

static void on_failure(struct sw_kube_watch *w, int code, int http_status, int64_t asked_ms,
                       const struct sw_err *err)
{
    bool passing = refusal_passes(w, code) ||
                   (code == SW_UNAVAILABLE &&
                    (!http_status || w->n_failures < FAILURES_TO_REPORT - 1));
    if (!passing && code != SW_GONE && !w->closed && w->reported_error != code) {
        struct sw_watch_event e = {
            .type = SW_WATCH_ERROR, .kind = w->kind, .code = code, .err = err
        };
        w->reported_error = code;
        w->cb(&e, w->arg);
    }
    if (!w->closed)
        pause_after_failure(w, http_status, asked_ms);
}

/* ---- listing ------------------------------------------------------------------------------------
 */

static void on_listed_item(struct json_object *object, void *arg)
{
    struct sw_kube_watch *w = arg;
    struct observed_object o = object_key(object);
    if (o.name[0] && !w->closed)
        on_present(w, &o, object, true);
}

/** All existing objects have been reported. */
static void on_whole(struct sw_kube_watch *w)
{
    w->synced = true;
    w->partial = false;
    report(w, SW_WATCH_SYNCED, NULL, NULL);
}

static void on_list(const struct sw_kube_answer *a, void *arg)
{
    struct sw_kube_watch *w = arg;
    if (a->code == 0 && a->more)
        return; /* its items were reported as they arrived */
    w->list = NULL;
    if (a->code < 0) {
        w->n_expired += a->code == SW_GONE;
        w->any_version |= a->code == SW_GONE || a->http_status == HTTP_TOO_LARGE_VERSION;
        on_failure(w, a->code, a->http_status, a->retry_after_ms, a->err);
        return;
    }
    struct observed_object gone;
    observed_end_list(w->observed);
    while (!w->closed && observed_next_missing(w->observed, &gone))
        report(w, SW_WATCH_DELETED, &gone, NULL);
    if (w->closed)
        return;
    sw_text_set(&w->resource_version, a->resource_version);
    w->must_list = false;
    w->any_version = false;
    w->n_expired = 0;
    on_whole(w);
    if (!w->closed)
        start_watch(w);
}

static char *collection_path(const struct sw_kube_watch *w)
{
    char *path = kube_path(w->kind, w->ns, NULL, NULL);
    kube_path_add(&path, "labelSelector", w->label_selector);
    kube_path_add(&path, "fieldSelector", w->field_selector);
    return path;
}

static void start_list(struct sw_kube_watch *w)
{
    char *resource = kube_resource_name(w->kind, NULL);
    struct request_spec spec = { .verb = "list",
                                 .method = "GET",
                                 .resource = resource,
                                 .what = sw_printf("list %s", resource),
                                 .path = collection_path(w),
                                 .as_user = sw_strdup(w->as_user),
                                 .purpose = w->purpose,
                                 .repeatable = true,
                                 .ahead = true, /* requests of the queue may depend on it */
                                 .form = FORM_LIST,
                                 .max_item_tree_bytes = w->max_tree_bytes,
                                 .fields = (const char *const *)w->fields,
                                 .on_item = on_listed_item };
    if (w->n_expired < PAGED_LISTS)
        kube_path_add_int(&spec.path, "limit", w->page_size);
    /* A list older than the last report would report existing objects as deleted, and deleted ones
     * as added. A server that was restored from a backup does not have that version: after its 504
     * any list is accepted. Source: Kubernetes "API Concepts", resourceVersionMatch. */
    if (w->resource_version[0] && !w->any_version) {
        kube_path_add(&spec.path, "resourceVersion", w->resource_version);
        kube_path_add(&spec.path, "resourceVersionMatch", "NotOlderThan");
    }
    observed_begin_list(w->observed);
    w->must_list = true;
    w->list = kube_request_new(w->k, &spec, NULL, on_list, w);
}

/* ---- watching -----------------------------------------------------------------------------------
 */

/** Keep the version to watch from. A late event with a lower number does not change it. */
static void note_version(struct sw_kube_watch *w, const char *version)
{
    if (!version[0] || sw_streq(version, w->resource_version))
        return;
    size_t len = strlen(version), old_len = strlen(w->resource_version);
    bool numbers = version[strspn(version, "0123456789")] == '\0' &&
                   w->resource_version[strspn(w->resource_version, "0123456789")] == '\0';
    if (numbers && (len < old_len || (len == old_len && strcmp(version, w->resource_version) < 0)))
        return;
    sw_text_set(&w->resource_version, version);
}

/** An ERROR event: its object is a Status. @return its code; the message is in @w->end */
static int on_error_event(struct sw_kube_watch *w, struct json_object *status)
{
    const char *reason;
    int http_status = (int)sw_json_int(status, 500, "code", NULL);
    int code = kube_answer_code(http_status, status, &reason);
    if (code == SW_OK)
        code = SW_UNAVAILABLE;
    if (sw_streq(reason, "Expired") || sw_streq(reason, "Gone"))
        code = SW_GONE;
    kube_answer_error(http_status, status, "", 0, code, &w->end);
    return code;
}

static int on_event(void *arg, const char *type, struct json_object *object, struct sw_err *err)
{
    struct sw_kube_watch *w = arg;
    if (sw_streq(type, "ERROR")) {
        int code = on_error_event(w, object);
        return sw_err_set(err, code, "%s", sw_err_text(&w->end));
    }
    struct observed_object o = object_key(object);
    bool is_bookmark = sw_streq(type, "BOOKMARK");
    if (!o.resource_version[0] || (!is_bookmark && !o.name[0]))
        return sw_err_set(err, SW_INVALID, "an event without a name or resourceVersion");
    w->had_events = true;
    w->n_failures = 0;
    if (sw_streq(type, "DELETED")) {
        if (observed_remove(w->observed, &o))
            report(w, SW_WATCH_DELETED, &o, object);
    } else if (!is_bookmark) {
        on_present(w, &o, object, false);
    }
    if (w->closed)
        return SW_CANCELED;
    note_version(w, o.resource_version); /* last: what was not reported must come again */
    if (is_bookmark && w->partial)       /* the existing objects came before it */
        on_whole(w);
    return w->closed ? SW_CANCELED : 0;
}

/** Once for each connection, as soon as its status is known: its end may be minutes away. */
static void count(struct sw_kube_watch *w, int http_status)
{
    SW_AUTO_CHARS *resource = kube_resource_name(w->kind, NULL);
    if (!w->counted) {
        kube_counts_add(w->k->counts, "watch", resource, http_status);
        kube_trace_add(w->k,
                       &(struct sw_kube_traced){ .verb = "watch",
                                                 .path = resource,
                                                 .http_status = http_status,
                                                 .as_user = w->as_user,
                                                 .purpose = w->purpose },
                       0);
    }
    w->counted = true;
}

static void on_head(int http_status, void *arg)
{
    struct sw_kube_watch *w = arg;
    w->began_ms = sw_loop_now_ms(w->k->loop);
    count(w, http_status);
    if (http_status != 200)
        return;
    struct sw_http_result up = { .http_status = http_status };
    kube_note_server(w->k, &up); /* its end may be minutes away */
    kube_note_resumed(w->k);
    w->refused_ms = 0;
    if (w->reported_error && !w->closed) {
        w->reported_error = 0;
        report(w, SW_WATCH_SYNCED, NULL, NULL);
    }
}

static int on_data(int http_status, const char *bytes, size_t len, struct sw_err *err, void *arg)
{
    struct sw_kube_watch *w = arg;
    if (w->closed)
        return SW_CANCELED;
    if (http_status == 200)
        return sw_stream_feed(w->stream, bytes, len, err);
    if ((size_t)w->body->bpos + len > MAX_STATUS_BYTES)
        return sw_err_set(err, SW_INVALID, "the server's answer is too large");
    (void)printbuf_memappend(w->body, bytes, (int)len);
    return 0;
}

static void drop_transfer(struct sw_kube_watch *w)
{
    w->transfer = NULL;
    if (w->body)
        printbuf_free(SW_TAKE(w->body));
    sw_stream_free(SW_TAKE(w->stream));
    sw_err_done(&w->end);
}

/** The code and message for the end of a connection. */
static int read_end(struct sw_kube_watch *w, const struct sw_http_result *r, struct sw_err *err)
{
    if (r->code < 0)
        return sw_err_set(err, r->code, "%s", sw_err_text(r->err));
    if (r->http_status == 200)
        return 0;
    const char *reason;
    struct json_object *status = kube_status_parse(w->body->buf, (size_t)w->body->bpos);
    int code = kube_answer_code(r->http_status, status, &reason);
    if (code == SW_OK) /* 204 and the like */
        code = SW_INVALID;
    kube_answer_error(r->http_status, status, w->body->buf, (size_t)w->body->bpos, code, err);
    (void)json_object_put(status);
    return code;
}

static void on_done(const struct sw_http_result *r, void *arg)
{
    struct sw_kube_watch *w = arg;
    count(w, r->http_status);
    if (r->http_status == 401)
        kube_token_doubt(w->k->token);
    kube_note_server(w->k, r);
    if (w->closed)
        return;
    SW_ERR(err);
    int code = read_end(w, r, &err);
    if (r->http_status == 200 && r->code == SW_UNAVAILABLE)
        w->k->broken = true;
    if (w->partial)
        w->must_list = true;
    bool lasted = sw_loop_now_ms(w->k->loop) - w->began_ms >= GOOD_LIFE_MS;
    bool worked = r->http_status == 200 && (w->had_events || lasted);
    drop_transfer(w);
    if (code == SW_GONE) {
        w->must_list = true;
        w->synced = false;
    }
    if (r->http_status == 200 && code == SW_INVALID)
        code = SW_UNAVAILABLE; /* malformed data: the next watch may succeed */
    if (worked && (code == 0 || code == SW_GONE || code == SW_UNAVAILABLE)) {
        w->n_failures = 0; /* resume; with a pause if connections are short */
        sw_timer_set(w->pause, lasted ? 0 : kube_backoff_ms(w->k, 1, RETRY_FIRST_MS, RETRY_CAP_MS));
    } else if (code == 0) {
        pause_after_failure(w, r->http_status, 0);
    } else {
        SW_AUTO_CHARS *resource = kube_resource_name(w->kind, NULL);
        (void)sw_err_wrap(&err, code, "watch %s", resource);
        on_failure(w, code, r->http_status, r->retry_after_ms, &err);
    }
}

static void start_watch(struct sw_kube_watch *w)
{
    struct sw_kube *k = w->k;
    struct header_list headers;
    SW_ERR(err);
    int rc = kube_headers(k, NULL, NULL, w->as_user, &headers, &err);
    if (rc < 0) {
        on_failure(w, rc, 0, 0, &err);
        return;
    }
    w->stream = sw_stream_new(&(struct sw_stream_opts){ .kind = SW_STREAM_WATCH,
                                                        .projection = w->projection,
                                                        .max_item_bytes = MAX_EVENT_BYTES,
                                                        .max_tree_bytes = w->max_tree_bytes },
                              on_event, w);
    w->body = printbuf_new();
    w->counted = false;
    w->had_events = false;
    w->must_list = false;
    w->began_ms = sw_loop_now_ms(k->loop);
    SW_AUTO_CHARS *path = collection_path(w);
    kube_path_add(&path, "watch", "true");
    kube_path_add(&path, "allowWatchBookmarks", "true");
    if (!w->partial)
        kube_path_add(&path, "resourceVersion", w->resource_version);
    kube_path_add_int(&path, "timeoutSeconds", SERVER_S + (int)(kube_random(k) * SERVER_S));
    SW_AUTO_CHARS *url = sw_printf("%s%s", k->base_url, path);
    struct sw_http_spec spec = { .method = "GET",
                                 .url = url,
                                 .headers = headers.view,
                                 .answer_ms = k->opts.timeout_ms,
                                 .idle_ms = w->idle_ms,
                                 .buffer_bytes = 8192, /* one for each open watch */
                                 .on_data = on_data,
                                 .on_head = on_head,
                                 .on_done = on_done,
                                 .arg = w };
    w->transfer = sw_http_start(k->http, &spec);
    kube_headers_done(&headers);
}

/* ---- life ---------------------------------------------------------------------------------------
 */

static char *copy(const char *s)
{
    return s && s[0] ? sw_strdup(s) : NULL;
}

static void copy_opts(struct sw_kube_watch *w, const struct sw_watch_opts *o)
{
    size_t n = 0;
    w->ns = copy(o->ns);
    w->as_user = sw_strdup(o->as_user);
    w->purpose = o->purpose;
    w->label_selector = copy(o->label_selector);
    w->page_size = o->page_size ? o->page_size : PAGE_SIZE;
    w->max_tree_bytes = o->max_tree_bytes ? o->max_tree_bytes : MAX_TREE_BYTES;
    w->idle_ms = o->idle_ms ? o->idle_ms : IDLE_MS;
    w->field_selector = copy(o->field_selector);
    if (o->name && o->name[0]) {
        free(w->field_selector);
        w->field_selector = sw_printf("metadata.name=%s%s%s", o->name, o->field_selector ? "," : "",
                                      o->field_selector ? o->field_selector : "");
    }
    while (o->fields && o->fields[n])
        n++;
    w->fields = sw_zalloc(n + 1, sizeof *w->fields);
    for (size_t i = 0; i < n; i++)
        w->fields[i] = sw_strdup(o->fields[i]);
}

struct sw_kube_watch *sw_kube_watch_open(struct sw_kube *k, const struct sw_kind *kind,
                                         const struct sw_watch_opts *opts, sw_watch_fn *cb,
                                         void *arg)
{
    static const struct sw_watch_opts none;
    struct sw_kube_watch *w = sw_zalloc(1, sizeof *w);
    w->k = k;
    w->kind = kind;
    w->cb = cb;
    w->arg = arg;
    copy_opts(w, opts ? opts : &none);
    w->observed = observed_new();
    w->resource_version = sw_strdup("");
    w->pause = sw_timer_new(k->loop, on_pause_over, w);
    LIST_INSERT_HEAD(&k->watches, w, in_all);
    /* if it cannot be compiled the list fails with the same message, which is reported */
    SW_ERR(err);
    (void)kube_projection((const char *const *)w->fields, &w->projection, &err);
    w->partial = opts && opts->unlisted;
    if (w->partial)
        start_watch(w);
    else
        start_list(w);
    return w;
}

static void watch_free(void *arg)
{
    struct sw_kube_watch *w = arg;
    drop_transfer(w);
    observed_free(w->observed);
    sw_timer_free(w->pause);
    sw_projection_free(w->projection);
    for (char **field = w->fields; *field; field++)
        free(*field);
    free(w->fields);
    free(w->ns);
    free(w->as_user);
    free(w->label_selector);
    free(w->field_selector);
    free(w->resource_version);
    free(w);
}

void sw_kube_watch_close(struct sw_kube_watch *w)
{
    if (!w || w->closed)
        return;
    w->closed = true;
    LIST_REMOVE(w, in_all);
    sw_timer_stop(w->pause);
    sw_kube_cancel(SW_TAKE(w->list));
    sw_http_cancel(w->transfer);
    sw_http_defer(w->k->http, watch_free, w);
}

void kube_watch_unhook_all(struct sw_kube *k)
{
    while (!LIST_EMPTY(&k->watches))
        sw_kube_watch_close(LIST_FIRST(&k->watches));
}

void kube_watch_wake_all(struct sw_kube *k)
{
    struct sw_kube_watch *w;
    LIST_FOREACH(w, &k->watches, in_all)
    if (sw_timer_is_set(w->pause))
        sw_timer_set(w->pause, 0);
}

bool sw_kube_watch_is_synced(const struct sw_kube_watch *w)
{
    return w->synced;
}

bool sw_kube_watch_is_established(const struct sw_kube_watch *w)
{
    return w->synced && !(w->n_failures && sw_timer_is_set(w->pause));
}

size_t sw_kube_watch_n_objects(const struct sw_kube_watch *w)
{
    return observed_count(w->observed);
}

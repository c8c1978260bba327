/* request: the queue of requests, their tries, and the reading of their answers. */
#include <json-c/json.h>
#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "kube/internal.h"

enum { RETRY_FIRST_MS = 250, RETRY_CAP_MS = 10000, RETRY_AFTER_CAP_MS = 60000, MAX_CONFLICTS = 10 };

static void pump(struct sw_kube *k);

/* Of the requests that may be in flight: one that is followed without an end counts as a watch. */
static int slots(const struct sw_kube_request *r)
{
    return r->spec.on_text ? 0 : 1;
}

/* ---- life ---------------------------------------------------------------------------------------
 */

/** Drop what has arrived of an answer. */
static void reset_answer(struct sw_kube_request *r)
{
    if (r->body)
        printbuf_free(SW_TAKE(r->body));
    sw_stream_free(SW_TAKE(r->stream));
    (void)json_object_put(SW_TAKE(r->items));
    (void)json_object_put(SW_TAKE(r->warnings));
    r->page_tree_bytes = 0;
}

static void request_free(void *arg)
{
    struct sw_kube_request *r = arg;
    reset_answer(r);
    free(r->spec.own_method);
    free(r->spec.resource);
    free(r->spec.what);
    free(r->spec.path);
    free(r->spec.body);
    free(r->spec.content_type);
    free(r->spec.proxied);
    free(r->spec.as_user);
    if (r->free_arg)
        r->free_arg(r->arg);
    sw_projection_free(r->projection);
    sw_timer_free(r->timer);
    free(r->page);
    sw_err_done(&r->broken);
    free(r);
}

static void trace(const struct sw_kube_request *r, int http_status)
{
    const struct request_spec *s = &r->spec;
    kube_trace_add(r->k,
                   &(struct sw_kube_traced){ .verb = s->verb,
                                             .path = s->path,
                                             .http_status = http_status,
                                             .as_user = s->as_user,
                                             .purpose = s->purpose },
                   r->sent_ms);
}

void kube_request_over(struct sw_kube_request *r)
{
    if (r->state == RQ_OVER)
        return;
    if (r->state == RQ_QUEUED)
        TAILQ_REMOVE(&r->k->queue, r, in_queue);
    if (r->state == RQ_RUNNING) {
        r->k->n_in_flight -= slots(r);
        kube_counts_add(r->k->counts, r->spec.verb, r->spec.resource, 0);
        trace(r, 0);
    }
    r->state = RQ_OVER;
    LIST_REMOVE(r, in_all);
    if (r->timer)
        sw_timer_stop(r->timer);
    sw_http_cancel(SW_TAKE(r->transfer));
    sw_http_defer(r->k->http, request_free, r);
}

void sw_kube_cancel(struct sw_kube_request *r)
{
    if (!r || r->state == RQ_OVER)
        return;
    struct sw_kube *k = r->k;
    sw_http_enter(k->http);
    kube_request_over(r);
    pump(k);
    sw_http_leave(k->http);
}

/* ---- answering ----------------------------------------------------------------------------------
 */

/** Call the owner's callback. Unless @last, another page follows and the request stays open. */
static void tell(struct sw_kube_request *r, struct sw_kube_answer *a, bool last)
{
    sw_kube_answer_fn *cb = r->on_answer;
    void *arg = r->arg;
    a->warnings = r->warnings;
    if (last)
        kube_request_over(r); /* first: @cb may start or cancel requests */
    cb(a, arg);
}

static void tell_failure(struct sw_kube_request *r, int code, const struct sw_http_result *result,
                         struct sw_err *err)
{
    struct sw_kube_answer a = { .code = code, .reason = "", .err = err, .resource_version = "" };
    if (result) {
        a.http_status = result->http_status;
        a.retry_after_ms = result->retry_after_ms;
    }
    (void)sw_err_wrap(err, code, "%s", r->spec.what);
    tell(r, &a, true);
}

static int keep_object(void *arg, const char *type SW_UNUSED, struct json_object *object,
                       struct sw_err *err SW_UNUSED)
{
    *(struct json_object **)arg = json_object_get(object);
    return 0;
}

static int check_tree(const struct sw_kube_request *r, size_t bytes, struct sw_err *err)
{
    size_t max = r->spec.max_tree_bytes;
    return max && bytes > max
               ? sw_err_set(err, SW_INVALID, "the answer takes more than %zu MiB of memory",
                            max >> 20)
               : 0;
}

/* What an object may take before it is stripped. */
static size_t item_bytes(const struct sw_kube_request *r)
{
    size_t max = r->spec.max_item_tree_bytes ? r->spec.max_item_tree_bytes : MAX_TREE_BYTES;
    bool less = r->spec.max_tree_bytes && r->spec.max_tree_bytes < max;
    return less ? r->spec.max_tree_bytes : max;
}

/* The body as an object. @return 0 | SW_INVALID */
static int read_object(const struct sw_kube_request *r, struct json_object **out,
                       struct sw_err *err)
{
    const struct sw_stream_opts opts = { .kind = SW_STREAM_OBJECT,
                                         .projection = r->projection,
                                         .max_item_bytes = MAX_BODY_BYTES,
                                         .max_tree_bytes = item_bytes(r) };
    SW_AUTO(sw_stream) *stream = sw_stream_new(&opts, keep_object, out);
    int rc = sw_stream_feed(stream, r->body->buf, (size_t)r->body->bpos, err);
    if (rc == 0)
        rc = sw_stream_end(stream, err);
    if (rc < 0)
        return sw_err_wrap(err, SW_INVALID, "the server's answer is no JSON");
    return check_tree(r, sw_stream_item_bytes(stream), err);
}

static void answer_object(struct sw_kube_request *r, const struct sw_http_result *result)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    if (r->body->bpos && read_object(r, &doc, &err) < 0) {
        tell_failure(r, SW_INVALID, result, &err);
        return;
    }
    /* the answer to a delete: a Status, or the object while finalizers run */
    bool is_status = sw_streq(sw_obj_kind(doc), "Status") &&
                     sw_streq(sw_obj_api_version(doc), "v1");
    struct sw_kube_answer a = { .http_status = result->http_status,
                                .reason = "",
                                .err = &err,
                                .resource_version = "",
                                .object = is_status ? NULL : doc };
    tell(r, &a, true);
}

static void answer_text(struct sw_kube_request *r, const struct sw_http_result *result)
{
    SW_ERR(err);
    struct sw_kube_answer a = { .http_status = result->http_status,
                                .reason = "",
                                .err = &err,
                                .resource_version = "",
                                .text = r->spec.on_text ? NULL : r->body->buf,
                                .len_bytes = (size_t)r->body->bpos };
    tell(r, &a, true);
}

static void enqueue(struct sw_kube_request *r)
{
    r->state = RQ_QUEUED;
    if (r->spec.ahead)
        TAILQ_INSERT_HEAD(&r->k->queue, r, in_queue);
    else
        TAILQ_INSERT_TAIL(&r->k->queue, r, in_queue);
}

static void answer_list(struct sw_kube_request *r, const struct sw_http_result *result)
{
    SW_ERR(err);
    int rc = r->stream ? sw_stream_end(r->stream, &err)
                       : sw_err_set(&err, SW_INVALID, "the server's answer is empty");
    if (rc < 0) {
        tell_failure(r, rc, result, &err);
        return;
    }
    const char *token = sw_stream_continue(r->stream);
    struct sw_kube_answer a = { .http_status = result->http_status,
                                .reason = "",
                                .err = &err,
                                .resource_version = sw_stream_resource_version(r->stream),
                                .more = token[0] != '\0',
                                .items = r->items };
    SW_AUTO_CHARS *next = sw_strdup(token);
    tell(r, &a, !a.more);
    if (!a.more || r->state == RQ_OVER)
        return; /* the last page, or cancelled by the callback */
    r->tree_bytes += r->page_tree_bytes;
    reset_answer(r);
    free(r->page);
    r->page = SW_TAKE(next);
    r->n_tries = 0;
    enqueue(r);
}

static void answer_error(struct sw_kube_request *r, const struct sw_http_result *result)
{
    const char *body = r->body->buf;
    size_t len = (size_t)r->body->bpos;
    SW_ERR(err);
    SW_AUTO_JSON *status = kube_status_parse(body, len);
    struct sw_kube_answer a = { .http_status = result->http_status,
                                .retry_after_ms = result->retry_after_ms,
                                .status = status,
                                .resource_version = "",
                                .err = &err };
    a.code = kube_answer_code(result->http_status, status, &a.reason);
    if (!a.retry_after_ms && a.code == SW_UNAVAILABLE)
        a.retry_after_ms = sw_json_int(status, 0, "details", "retryAfterSeconds", NULL) * 1000;
    kube_answer_error(result->http_status, status, body, len, a.code, &err);
    (void)sw_err_wrap(&err, a.code, "%s", r->spec.what);
    tell(r, &a, true);
}

static void answer(struct sw_kube_request *r, const struct sw_http_result *result)
{
    static void (*const by_form[])(struct sw_kube_request *, const struct sw_http_result *) = {
        [FORM_OBJECT] = answer_object,
        [FORM_LIST] = answer_list,
        [FORM_TEXT] = answer_text,
    };
    if (result->code < 0) {
        SW_ERR(err);
        (void)sw_err_set(&err, result->code, "%s", sw_err_text(result->err));
        tell_failure(r, result->code, result, &err);
    } else if (result->http_status > 299) {
        answer_error(r, result);
    } else {
        by_form[r->spec.form](r, result);
    }
}

/* ---- trying -------------------------------------------------------------------------------------
 */

static void on_timer(void *arg)
{
    struct sw_kube_request *r = arg;
    struct sw_http *http = r->k->http;
    sw_http_enter(http);
    if (r->broken.text) {
        tell_failure(r, r->broken.code, NULL, &r->broken);
    } else {
        enqueue(r);
        pump(r->k);
    }
    sw_http_leave(http);
}

static void run_timer(struct sw_kube_request *r, int64_t in_ms)
{
    r->state = RQ_WAITING;
    if (!r->timer)
        r->timer = sw_timer_new(r->k->loop, on_timer, r);
    sw_timer_set(r->timer, in_ms);
}

/* Has the conflict a cause that stays: fields that other managers have, or a uid that was asked
 * for? The latter's message is "Precondition failed: UID in precondition: ..." */
static bool is_lasting_conflict(struct json_object *status)
{
    struct json_object *causes = sw_json_find(status, "details", "causes", NULL);
    return sw_json_find_by(causes, "reason", "FieldManagerConflict") ||
           strstr(sw_json_str(status, "", "message", NULL), "recondition");
}

/** Whether another try is allowed and could help. */
static bool may_retry(const struct sw_kube_request *r, const struct sw_http_result *result)
{
    if (r->n_tries > r->spec.retries || r->told)
        return false;
    bool refused = result->http_status == 429 || result->unsent;
    if (result->http_status == 409 && (!r->spec.unconditional || r->n_tries > MAX_CONFLICTS))
        return false;
    if (!refused && !r->spec.repeatable)
        return false;
    if (result->code == SW_UNAVAILABLE)
        return true;
    if (result->code < 0)
        return false;
    const char *reason;
    struct json_object *status = NULL;
    if ((result->http_status >= 500 || result->http_status == 409) && r->body)
        status = kube_status_parse(r->body->buf, (size_t)r->body->bpos);
    int code = kube_answer_code(result->http_status, status, &reason);
    const bool passes = code == SW_UNAVAILABLE ||
                        (result->http_status == 409 && !is_lasting_conflict(status));
    (void)json_object_put(status);
    return passes;
}

static void on_done(const struct sw_http_result *result, void *arg)
{
    struct sw_kube_request *r = arg;
    struct sw_kube *k = r->k;
    r->transfer = NULL;
    r->state = RQ_WAITING;
    k->n_in_flight -= slots(r);
    kube_counts_add(k->counts, r->spec.verb, r->spec.resource, result->http_status);
    trace(r, result->http_status);
    if (result->http_status == 401)
        kube_token_doubt(k->token);
    if (sw_log_enabled(SW_LOG_DEBUG)) {
        char status[16];
        (void)snprintf(status, sizeof status, "%d", result->http_status);
        sw_log(SW_LOG_DEBUG, "request", "verb", r->spec.verb, "path", r->spec.path, "status",
               status, "error", result->code < 0 ? sw_err_text(result->err) : NULL, NULL);
    }
    kube_note_server(k, result);
    if (r->state == RQ_OVER)
        return; /* cancelled by the on_server callback */
    if (!r->body)
        r->body = printbuf_new();
    if (may_retry(r, result)) {
        int64_t wait_ms = kube_backoff_ms(k, r->n_tries, RETRY_FIRST_MS, RETRY_CAP_MS);
        int64_t asked_ms = result->retry_after_ms < RETRY_AFTER_CAP_MS ? result->retry_after_ms
                                                                       : RETRY_AFTER_CAP_MS;
        reset_answer(r);
        run_timer(r, asked_ms > wait_ms ? asked_ms : wait_ms);
    } else {
        answer(r, result);
    }
    pump(k);
}

static int on_item(void *arg, const char *type SW_UNUSED, struct json_object *object,
                   struct sw_err *err)
{
    struct sw_kube_request *r = arg;
    r->page_tree_bytes += sw_stream_item_bytes(r->stream);
    if (check_tree(r, r->tree_bytes + r->page_tree_bytes, err) < 0)
        return SW_INVALID;
    if (r->spec.on_item)
        r->spec.on_item(object, r->arg);
    else
        (void)json_object_array_add(r->items, json_object_get(object));
    return r->state == RQ_OVER ? SW_CANCELED : 0;
}

static int on_data(int http_status, const char *bytes, size_t len, struct sw_err *err, void *arg)
{
    struct sw_kube_request *r = arg;
    bool good = http_status <= 299;
    if (good && r->spec.form == FORM_LIST) {
        if (!r->stream) {
            struct sw_stream_opts opts = { .kind = SW_STREAM_LIST,
                                           .projection = r->projection,
                                           .max_item_bytes = MAX_EVENT_BYTES,
                                           .max_tree_bytes = item_bytes(r) };
            r->stream = sw_stream_new(&opts, on_item, r);
            r->items = r->spec.on_item ? NULL : json_object_new_array();
        }
        return sw_stream_feed(r->stream, bytes, len, err);
    }
    if (good && r->spec.on_text) {
        r->told = true;
        r->spec.on_text(bytes, len, r->arg);
        return r->state == RQ_OVER ? SW_CANCELED : 0;
    }
    size_t max = !good ? MAX_STATUS_BYTES : r->spec.max_bytes ? r->spec.max_bytes : MAX_BODY_BYTES;
    if (!r->body)
        r->body = printbuf_new();
    if (len > max - (size_t)r->body->bpos)
        return sw_err_set(err, SW_INVALID, "the server's answer is larger than %zu bytes", max);
    return printbuf_memappend(r->body, bytes, (int)len) < 0
               ? sw_err_set(err, SW_INVALID, "the server's answer is too large")
               : 0;
}

static void on_warning(const char *text, void *arg)
{
    enum { MAX_WARNINGS = 16 };
    struct sw_kube_request *r = arg;
    if (!r->warnings)
        r->warnings = json_object_new_array();
    if (json_object_array_length(r->warnings) < MAX_WARNINGS)
        (void)json_object_array_add(r->warnings, json_object_new_string(text));
}

static void start(struct sw_kube_request *r)
{
    struct sw_kube *k = r->k;
    const struct request_spec *s = &r->spec;
    struct header_list headers;
    int rc = kube_headers(k, s->accept, s->content_type, s->as_user, &headers, &r->broken);
    if (rc == 0 && s->proxied)
        rc = kube_headers_proxied(&headers, s->proxied, &r->broken);
    if (rc < 0) {
        run_timer(r, 0);
        return;
    }
    SW_AUTO_CHARS *url = sw_printf("%s%s", k->base_url, s->path);
    kube_path_add(&url, "continue", r->page);
    struct sw_http_spec spec = { .method = s->method,
                                 .url = url,
                                 .headers = headers.view,
                                 .body = s->body,
                                 .body_len = s->body_len,
                                 .timeout_ms = s->on_text ? 0 : s->timeout_ms,
                                 .answer_ms = s->on_text ? s->timeout_ms : 0,
                                 .buffer_bytes = s->form == FORM_LIST ? 65536 : 0,
                                 .on_warning = on_warning,
                                 .on_data = on_data,
                                 .on_done = on_done,
                                 .arg = r };
    r->state = RQ_RUNNING;
    r->n_tries++;
    r->sent_ms = sw_loop_now_ms(k->loop);
    k->n_in_flight += slots(r);
    r->transfer = sw_http_start(k->http, &spec);
    kube_headers_done(&headers);
}

static void pump(struct sw_kube *k)
{
    struct sw_kube_request *r;
    while ((r = TAILQ_FIRST(&k->queue)) && (!slots(r) || k->n_in_flight < k->opts.max_in_flight)) {
        TAILQ_REMOVE(&k->queue, r, in_queue);
        start(r);
    }
}

int kube_projection(const char *const *fields, struct sw_projection **out, struct sw_err *err)
{
    static const char *const always[] = { "metadata.name", "metadata.namespace", "metadata.uid",
                                          "metadata.resourceVersion" };
    *out = NULL;
    if (!fields || !fields[0])
        return 0;
    size_t n = 0;
    bool keeps = false;
    for (; fields[n]; n++)
        keeps |= fields[n][0] != '!';
    if (!keeps) /* all fields but these */
        return sw_projection_compile(fields, n, out, err);
    const char **paths = sw_zalloc(n + SW_COUNT(always), sizeof *paths);
    memcpy(paths, fields, n * sizeof *paths);
    memcpy(paths + n, always, sizeof always);
    int rc = sw_projection_compile(paths, n + SW_COUNT(always), out, err);
    free(paths);
    return rc;
}

static struct sw_kube_request *request_alloc(struct sw_kube *k)
{
    struct sw_kube_request *r = sw_zalloc(1, sizeof *r);
    r->k = k;
    LIST_INSERT_HEAD(&k->requests, r, in_all);
    return r;
}

struct sw_kube_request *kube_request_new(struct sw_kube *k, const struct request_spec *spec,
                                         struct sw_err *broken, sw_kube_answer_fn *cb, void *arg)
{
    struct sw_kube_request *r = request_alloc(k);
    r->spec = *spec;
    r->on_answer = cb;
    r->arg = arg;
    if (!r->spec.method)
        r->spec.method = r->spec.own_method;
    if (!r->spec.timeout_ms)
        r->spec.timeout_ms = k->opts.timeout_ms;
    r->spec.fields = NULL;
    if (broken && broken->text)
        (void)sw_err_move(&r->broken, broken);
    if (r->broken.text || kube_projection(spec->fields, &r->projection, &r->broken) < 0) {
        run_timer(r, 0);
        return r;
    }
    enqueue(r);
    pump(k);
    return r;
}

struct sw_kube_request *kube_request_new_group(struct sw_kube *k, void (*free_arg)(void *arg),
                                               void *arg)
{
    struct sw_kube_request *r = request_alloc(k);
    r->state = RQ_GROUP;
    r->free_arg = free_arg;
    r->arg = arg;
    return r;
}

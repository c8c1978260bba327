/* watch: changes as they happen, a JSON line each. Source: Kubernetes API concepts, "Efficient
 * detection of changes", "Watch bookmarks", "Streaming lists". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/api/convert.h"
#include "emulator/api/table.h"
#include "emulator/api/verbs.h"
#include "emulator/store/feature_gates.h"
#include "emulator/store/status.h"

enum {
    BOOKMARK_MS = 60 * 1000,
    HELD_MS = 1000,                 /* SW_FAULT_REORDER: the longest wait for the next event */
    LONGEST_S = 30 * 60,            /* a watch without timeoutSeconds: this to twice as long */
    MAX_BACKLOG = 64 * 1024 * 1024, /* unsent bytes of a slow client; more ends the watch */
};

struct sw_watch {
    struct sw_req *req;
    struct sw_watcher watcher;
    bool watching; /* the watcher is on the kind's list */
    struct sw_filter filter;
    uint64_t sent_rv; /* changes up to this resourceVersion were sent */
    int64_t ends_ms;
    bool bookmarks;
    bool columns_sent; /* of a table */
    int n_events;
    char *held; /* a line that is sent after the next one */
    bool over;
};

static const char *const names[] = {
    [SW_STORE_ADDED] = "ADDED", [SW_STORE_MODIFIED] = "MODIFIED", [SW_STORE_DELETED] = "DELETED"
};

void sw_rest_watch_done(struct sw_req *req)
{
    struct sw_watch *w = SW_TAKE(req->watch);
    if (!w)
        return;
    if (w->watching)
        sw_watcher_remove(req->kind, &w->watcher);
    sw_filter_done(&w->filter);
    free(w->held);
    free(w);
}

/* End the watch in a later turn: the caller may be in a walk over all watchers. */
static void end_soon(struct sw_watch *w)
{
    w->over = true;
    sw_timer_set(w->req->timer, 0);
}

static void schedule(struct sw_watch *w)
{
    int64_t left_ms = w->ends_ms - sw_loop_now_ms(sw_store_loop(w->req->store));
    int64_t pause_ms = w->held ? HELD_MS : BOOKMARK_MS;
    if ((w->held || w->bookmarks) && left_ms > pause_ms)
        left_ms = pause_ms;
    sw_timer_set(w->req->timer, left_ms > 0 ? left_ms : 0);
}

/* ---- lines --------------------------------------------------------------------------------------
 */

/* Write a line with the fault of the request. @return false: the stream is over */
static bool apply_fault(struct sw_watch *w, const char *line, size_t len)
{
    static const char expired[] =
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
        "\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource version\","
        "\"reason\":\"Expired\",\"code\":410}}\n";
    static const char garbled[] = "{\"type\":\"MODIFIED\",\"obj\xff\xfe ect\":[}\n";
    switch (w->req->fault.type) {
    case SW_FAULT_TRUNCATE:
        sw_serve_write(w->req->reply, line, len / 2);
        break;
    case SW_FAULT_GARBLE:
        sw_serve_write(w->req->reply, garbled, sizeof garbled - 1);
        return true;
    case SW_FAULT_EXPIRE:
        sw_serve_write(w->req->reply, expired, sizeof expired - 1);
        break;
    case SW_FAULT_REORDER:
        w->held = sw_strndup(line, len);
        schedule(w);
        return true;
    default:
        sw_serve_write(w->req->reply, line, len);
        return true;
    }
    end_soon(w);
    return false;
}

static void write_held(struct sw_watch *w)
{
    if (w->held)
        sw_serve_write(w->req->reply, w->held, strlen(w->held));
    free(SW_TAKE(w->held));
}

static void write_line(struct sw_watch *w, const char *line, size_t len)
{
    if (w->over)
        return;
    struct sw_emu_fault *fault = &w->req->fault;
    w->n_events++;
    if (fault->type != SW_FAULT_NONE && w->n_events == (fault->after ? fault->after : 1)) {
        if (!apply_fault(w, line, len))
            return;
    } else {
        sw_serve_write(w->req->reply, line, len);
        write_held(w);
    }
    if (fault->type == SW_FAULT_DOUBLE)
        sw_serve_write(w->req->reply, line, len);
    if (sw_serve_backlog(w->req->reply) > MAX_BACKLOG)
        end_soon(w);
}

static void write_doc(struct sw_watch *w, const char *type, json_object *object)
{
    size_t len;
    json_object *event = json_object_new_object();
    sw_json_set_str(event, type, "type", NULL);
    sw_json_set(event, object, "object", NULL);
    SW_AUTO_CHARS *text = sw_json_text(event, SW_JSON_PLAIN, &len);
    json_object_put(event);
    SW_AUTO_CHARS *line = sw_printf("%s\n", text);
    write_line(w, line, len + 1);
}

static void write_event(struct sw_watch *w, const char *type, struct sw_version *v)
{
    if (w->req->form == SW_FORM_TABLE) {
        json_object *doc = v->doc;
        json_object *table = sw_table_of_one(w->req, doc);
        if (w->columns_sent) /* only the first table has them */
            sw_json_set(table, NULL, "columnDefinitions", NULL);
        w->columns_sent = true;
        write_doc(w, type, table);
        return;
    }
    if (w->req->form == SW_FORM_PARTIAL) {
        json_object *doc = v->doc;
        write_doc(w, type, sw_table_partial(doc));
        return;
    }
    struct printbuf *out = printbuf_new();
    sprintbuf(out, "{\"type\":\"%s\",\"object\":", type);
    sw_render(w->req, v, true, out);
    printbuf_strappend(out, "}\n");
    write_line(w, out->buf, (size_t)out->bpos);
    printbuf_free(out);
}

/* Send an object with only a resourceVersion: all changes up to it have been sent. */
static void write_bookmark(struct sw_watch *w, bool initial_end)
{
    struct sw_req *req = w->req;
    json_object *object = json_object_new_object();
    SW_AUTO_CHARS *rv = sw_printf("%" PRIu64, w->sent_rv);
    SW_AUTO_CHARS *api_version = sw_kind_api_version(req->kind, req->version);
    sw_json_set_str(object, req->kind->kind, "kind", NULL);
    sw_json_set_str(object, api_version, "apiVersion", NULL);
    sw_json_set_str(object, rv, "metadata", "resourceVersion", NULL);
    if (initial_end)
        sw_json_set_str(object, "true", "metadata", "annotations", "k8s.io/initial-events-end",
                        NULL);
    if (req->form == SW_FORM_TABLE) {
        json_object *table = sw_table_of_one(req, object);
        json_object_put(object);
        object = table;
    }
    write_doc(w, "BOOKMARK", object);
}

/* ---- changes ------------------------------------------------------------------------------------
 */

static bool matches(const struct sw_watch *w, struct sw_version *v)
{
    if (w->req->ns || w->req->name || w->filter.labels || w->filter.fields) {
        json_object *doc = v->doc;
        return (!w->req->ns || strcmp(sw_obj_namespace(doc), w->req->ns) == 0) &&
               (!w->req->name || strcmp(sw_obj_name(doc), w->req->name) == 0) &&
               sw_filter_matches(&w->filter, doc);
    }
    return true;
}

/* With a selector, an object that begins to match is ADDED, and one that no longer does DELETED. */
static void on_change(const struct sw_change *change, void *arg)
{
    struct sw_watch *w = arg;
    if (change->now->rv <= w->sent_rv || w->over)
        return;
    w->sent_rv = change->now->rv;
    bool is = matches(w, change->now);
    bool was = change->old && (change->type == SW_STORE_DELETED ? is : matches(w, change->old));
    if (change->type == SW_STORE_DELETED && is)
        write_event(w, names[SW_STORE_DELETED], change->now);
    else if (change->type != SW_STORE_DELETED && is)
        write_event(w, names[was ? SW_STORE_MODIFIED : SW_STORE_ADDED], change->now);
    else if (was)
        write_event(w, names[SW_STORE_DELETED], change->now);
}

/* ---- time ---------------------------------------------------------------------------------------
 */

static void on_time(void *arg)
{
    struct sw_watch *w = ((struct sw_req *)arg)->watch;
    bool last = w->over || sw_loop_now_ms(sw_store_loop(w->req->store)) >= w->ends_ms;
    if (w->held && !w->over) {
        write_held(w);
    } else if (w->bookmarks && !w->over) {
        uint64_t now = sw_store_version(w->req->store);
        w->sent_rv = now > w->sent_rv ? now : w->sent_rv; /* all changes of the kind were sent */
        write_bookmark(w, false);
    }
    if (!last)
        schedule(w);
    else if (w->req->fault.type == SW_FAULT_TRUNCATE && w->over)
        sw_serve_abort(w->req->reply, false);
    else
        sw_serve_end(w->req->reply);
}

/* ---- the request --------------------------------------------------------------------------------
 */

static void start(struct sw_watch *w, uint64_t from, bool initial)
{
    struct sw_req *req = w->req;
    const char *timeout = sw_req_param(req, "timeoutSeconds");
    long seconds = timeout ? strtol(timeout, NULL, 10) : 0;
    if (seconds <= 0)
        seconds = LONGEST_S + (long)(sw_store_random(req->store) % LONGEST_S);
    w->ends_ms = sw_loop_now_ms(sw_store_loop(req->store)) + seconds * 1000;
    w->watcher = (struct sw_watcher){ .cb = on_change, .arg = w };
    sw_timer_free(SW_TAKE(req->timer));
    req->timer = sw_timer_new(sw_store_loop(req->store), on_time, req);
    schedule(w);
    sw_rest_begin_stream(req, "application/json");
    w->sent_rv = from;
    const struct sw_shelf *shelf = sw_store_shelf(req->kind);
    if (initial) {
        for (size_t i = 0; shelf && i < shelf->n; i++)
            if (matches(w, shelf->objects[i]->now))
                write_event(w, names[SW_STORE_ADDED], shelf->objects[i]->now);
        w->sent_rv = sw_store_version(req->store);
    } else if (sw_history_replay(req->store, req->kind, from, on_change, w) < 0) {
        SW_STATUS(status);
        uint64_t oldest = shelf && shelf->compacted > req->kind->since ? shelf->compacted
                                                                       : req->kind->since;
        (void)sw_status_set(&status, 410, "Expired",
                            "too old resource version: %" PRIu64 " (%" PRIu64 ")", from, oldest);
        write_doc(w, "ERROR", sw_status_doc(&status));
        end_soon(w);
        return;
    }
    if (initial && sw_req_flag(req, "sendInitialEvents") && w->bookmarks)
        write_bookmark(w, true);
    sw_watcher_add(req->kind, &w->watcher);
    w->watching = true;
}

/* Whether the parameters go together. @return 0 | SW_INVALID, with @status filled
 * Source: apimachinery's pkg/apis/meta/internalversion/validation. */
static int check_options(struct sw_req *req, struct sw_status *status)
{
    static const struct sw_emu_kind options = { .group = "meta.k8s.io",
                                                .kind = "ListOptions",
                                                .plural = "" };
    enum { WITH_INITIAL_EVENTS = 27 }; /* the release that knows the parameter */
    const char *match = sw_req_param(req, "resourceVersionMatch");
    const bool knows = sw_store_minor(req->store) >= WITH_INITIAL_EVENTS;
    const bool initial = knows && sw_req_param(req, "sendInitialEvents");
    const bool newer = sw_streq(match, "NotOlderThan");
    SW_FIELD_ERRORS(errors);
    if (initial && !newer)
        sw_field_error(&errors, SW_FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
                       "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (initial && !sw_store_gate(req->store, SW_EMU_WATCH_LIST))
        sw_field_error(&errors, SW_FIELD_FORBIDDEN, "sendInitialEvents", NULL,
                       "sendInitialEvents is forbidden for watch unless the WatchList feature gate "
                       "is enabled");
    if (match && *match && !initial)
        sw_field_error(&errors, SW_FIELD_FORBIDDEN, "resourceVersionMatch", NULL, "%s",
                       knows ? "resourceVersionMatch is forbidden for watch unless "
                               "sendInitialEvents is provided"
                             : "resourceVersionMatch is forbidden for watch");
    if (knows && match && *match && !newer)
        sw_field_error_str(&errors, SW_FIELD_NOT_SUPPORTED, "resourceVersionMatch", match,
                           "\"NotOlderThan\"");
    return sw_status_invalid(status, &options, "", &errors);
}

void sw_rest_watch(struct sw_req *req)
{
    SW_STATUS(status);
    const char *rv = sw_req_param(req, "resourceVersion");
    uint64_t from = rv ? strtoull(rv, NULL, 10) : 0;
    struct sw_watch *w = sw_zalloc(1, sizeof *w);
    w->req = req;
    w->bookmarks = sw_req_flag(req, "allowWatchBookmarks");
    req->watch = w;
    if (check_options(req, &status) < 0 || sw_rest_filter(req, &w->filter, &status) < 0)
        sw_rest_send_status(req, &status);
    else
        start(w, from, from == 0 || sw_req_flag(req, "sendInitialEvents"));
}

/* The logs of containers: whole, their last lines, or as they grow until the container ends. When a
 * line was written is not known: each comes a nanosecond after the one before it, from the start of
 * the container on. */
#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/api/verbs.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

/* Between the text and the end of the answer: a client whose first read takes both may be told of
 * the end with the text. From a kubelet they come one after the other. */
enum { LOG_END_MS = 10 };

/* A log that a client follows. */
struct sw_log_follow {
    struct sw_watcher watcher;
    char *container;
    int64_t restarts; /* of the container when this began: its log ends with it */
    size_t sent;      /* bytes of the text */
    bool has_times;   /* before each line */
};

/* The container that the query names, or the only one. NULL: @status is filled. */
static const char *pick_container(struct sw_req *req, json_object *pod, struct sw_status *status)
{
    const char *given = sw_req_param(req, "container");
    json_object *list = sw_json_find(pod, "spec", "containers", NULL);
    json_object *inits = sw_json_find(pod, "spec", "initContainers", NULL);
    if (given && given[0]) {
        if (sw_json_find_by(list, "name", given) || sw_json_find_by(inits, "name", given))
            return given;
        (void)sw_status_bad_request(status, "container %s is not valid for pod %s", given,
                                    req->name);
        return NULL;
    }
    if (sw_json_len(list) == 1)
        return sw_json_str(sw_json_at(list, 0), "", "name", NULL);
    SW_AUTO_CHARS *names = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++)
        sw_append(&names, "%s%s", i ? " " : "", sw_json_str(sw_json_at(list, i), "", "name", NULL));
    (void)sw_status_bad_request(status,
                                "a container name must be specified for pod %s, choose one of: "
                                "[%s]",
                                req->name, names);
    return NULL;
}

/* The last @n lines. */
static const char *tail(const char *text, long n)
{
    const char *at = text + strlen(text);
    if (at > text && at[-1] == '\n')
        at--;
    for (; at > text; at--)
        if (at[-1] == '\n' && --n <= 0)
            break;
    return at;
}

/* ---- times of lines -----------------------------------------------------------------------------
 */

static json_object *container_status(json_object *pod, const char *container)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };
    json_object *found = NULL;
    for (size_t i = 0; i < SW_COUNT(lists) && !found; i++)
        found = sw_json_find_by(sw_json_find(pod, "status", lists[i], NULL), "name", container);
    return found;
}

/* When @container of @pod was started; NULL: it was not. */
static const char *started_at(json_object *pod, const char *container)
{
    static const char *const places[][2] = { { "state", "running" },
                                             { "state", "terminated" },
                                             { "lastState", "terminated" } };
    json_object *status = container_status(pod, container);
    const char *at = NULL;
    for (size_t i = 0; i < SW_COUNT(places) && !at; i++)
        at = sw_json_str(status, NULL, places[i][0], places[i][1], "startedAt", NULL);
    return at;
}

/* @text from @from on, with its time before each line, as timestamps=true asks; heap. */
static char *with_times(json_object *pod, const char *container, const char *text, const char *from)
{
    const char *started = started_at(pod, container);
    size_t n_before = 0, len = started ? strcspn(started, ".Z+") : 0;
    struct printbuf *out = printbuf_new();
    if (!out)
        abort();
    for (const char *at = text; at < from; at++)
        n_before += *at == '\n';
    for (const char *at = from; *at;) {
        size_t n = strcspn(at, "\n");
        n += at[n] == '\n';
        if (started && (at == text || at[-1] == '\n'))
            sprintbuf(out, "%.*s.%09zuZ ", (int)len, started, n_before++);
        printbuf_memappend(out, at, (int)n);
        at += n;
    }
    char *all = sw_strndup(out->bpos ? out->buf : "", (size_t)out->bpos);
    printbuf_free(out);
    return all;
}

/* Is the whole log older than sinceTime or sinceSeconds ask? Seconds count, as for a kubelet. */
static bool is_before(const struct sw_req *req, json_object *pod, const char *container)
{
    const char *since = sw_req_param(req, "sinceTime"),
               *seconds = sw_req_param(req, "sinceSeconds"), *started = started_at(pod, container);
    int64_t from_ms = 0, at_ms, n = seconds ? strtoll(seconds, NULL, 10) : 0;
    if (since && sw_time_parse(since, &from_ms, NULL) < 0)
        return false;
    if (n > 0 && n < INT32_MAX)
        from_ms = sw_loop_wall_ms(sw_store_loop(req->store)) - n * 1000;
    return started && sw_time_parse(started, &at_ms, NULL) == 0 && at_ms / 1000 < from_ms / 1000;
}

/* ---- following ----------------------------------------------------------------------------------
 */

static int64_t restarts_of(json_object *pod, const char *container)
{
    return sw_json_int(container_status(pod, container), 0, "restartCount", NULL);
}

/* Whether nothing is added to the log any more: of a container that ended, or began anew. */
static bool is_complete(const struct sw_log_follow *log, json_object *pod)
{
    json_object *status = container_status(pod, log->container);
    return sw_doc_is_over(pod) || restarts_of(pod, log->container) != log->restarts ||
           sw_json_find(status, "state", "terminated", NULL) ||
           (sw_json_find(status, "state", "waiting", NULL) &&
            sw_json_find(status, "lastState", "terminated", NULL));
}

static void end_log(struct sw_req *req)
{
    sw_rest_log_done(req);
    sw_serve_end(req->reply);
}

static void send_more(struct sw_req *req, json_object *pod)
{
    SW_AUTO_CHARS *text = NULL;
    struct sw_log_follow *log = req->log;
    if (sw_store_logs(req->store, pod, log->container, false, &text) < 0 || !text)
        return;
    size_t len = strlen(text);
    if (len > log->sent) {
        const char *from = text + log->sent;
        SW_AUTO_CHARS *times = log->has_times ? with_times(pod, log->container, text, from) : NULL;
        const char *sent = times ? times : from;
        sw_serve_write(req->reply, sent, strlen(sent));
    }
    log->sent = len;
}

static void on_time(void *arg)
{
    struct sw_req *req = arg;
    json_object *pod = req->log ? sw_store_get(req->store, req->kind, req->ns, req->name) : NULL;
    if (pod && restarts_of(pod, req->log->container) == req->log->restarts)
        send_more(req, pod);
    if (!pod || is_complete(req->log, pod))
        end_log(req);
}

/* What has changed is asked for in a later turn: the store may not be called here. */
static void on_change(const struct sw_change *change, void *arg)
{
    struct sw_req *req = arg;
    json_object *pod = change->now->doc;
    if (sw_streq(sw_obj_name(pod), req->name) && sw_streq(sw_obj_namespace(pod), req->ns))
        sw_timer_set(req->timer, LOG_END_MS);
}

static void follow(struct sw_req *req, json_object *pod, const char *container, size_t sent)
{
    struct sw_log_follow *log = sw_zalloc(1, sizeof *log);
    log->watcher = (struct sw_watcher){ .cb = on_change, .arg = req };
    log->container = sw_strdup(container);
    log->restarts = restarts_of(pod, container);
    log->sent = sent;
    log->has_times = sw_req_flag(req, "timestamps");
    req->log = log;
    sw_watcher_add(req->kind, &log->watcher);
}

void sw_rest_log_done(struct sw_req *req)
{
    struct sw_log_follow *log = SW_TAKE(req->log);
    if (!log)
        return;
    sw_watcher_remove(req->kind, &log->watcher);
    free(log->container);
    free(log);
}

/* ---- the request --------------------------------------------------------------------------------
 */

/* Send @sent, the end of @text, in chunks, as a kubelet does. */
static void stream(struct sw_req *req, json_object *pod, const char *container, const char *text,
                   const char *sent)
{
    sw_rest_begin_stream(req, "text/plain");
    sw_serve_write(req->reply, sent, strlen(sent));
    sw_timer_free(SW_TAKE(req->timer));
    req->timer = sw_timer_new(sw_store_loop(req->store), on_time, req);
    sw_timer_set(req->timer, LOG_END_MS);
    if (sw_req_flag(req, "follow") && !sw_req_flag(req, "previous"))
        follow(req, pod, container, strlen(text));
}

void sw_rest_log(struct sw_req *req, struct sw_object *object)
{
    SW_STATUS(status);
    SW_AUTO_CHARS *text = NULL;
    json_object *pod = object->now->doc;
    const char *container = pick_container(req, pod, &status);
    const char *lines = sw_req_param(req, "tailLines");
    int rc = SW_INVALID;
    if (container)
        rc = sw_store_logs(req->store, pod, container, sw_req_flag(req, "previous"), &text);
    if (container && rc == SW_PENDING)
        (void)sw_status_bad_request(&status,
                                    "container \"%s\" in pod \"%s\" is waiting to start: "
                                    "ContainerCreating",
                                    container, req->name);
    else if (container && rc < 0)
        (void)sw_status_bad_request(&status,
                                    "previous terminated container \"%s\" in pod \"%s\" not found",
                                    container, req->name);
    if (rc < 0) {
        sw_rest_send_status(req, &status);
        return;
    }
    const char *all = text ? text : "";
    const char *from = lines && strtol(lines, NULL, 10) > 0 ? tail(all, strtol(lines, NULL, 10))
                                                            : all;
    if (is_before(req, pod, container))
        from = all + strlen(all);
    SW_AUTO_CHARS *times = sw_req_flag(req, "timestamps") ? with_times(pod, container, all, from)
                                                          : NULL;
    const char *sent = times ? times : from;
    if (req->fault.type == SW_FAULT_LOST)
        sw_rest_send(req, 200, "text/plain", sent, strlen(sent));
    else
        stream(req, pod, container, all, sent);
}

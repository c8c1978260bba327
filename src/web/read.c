/* What a cluster holds, read once, with the ends of the logs that the page would ask for. */
#include "web/web.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "kube/kube.h"
#include "web/snapshot.h"

enum { MAX_LOGS = 40, LOG_LINES = 40, LOG_BYTES = 64 << 10, LOG_MS = 10 * 1000, STEP_MS = 1000 };

struct reading;

/* A log that was asked for. */
struct log {
    struct reading *reading;
    char *id; /* as logOf() of the page calls it */
};

struct reading {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct web_snapshot *snapshot;
    const int *stop;
    int64_t until_ms;
    struct json_object *logs; /* {id: text} */
    struct log asked[MAX_LOGS];
    size_t n_asked, n_open; /* of them not answered */
    struct sw_err down;     /* why the server does not answer */
};

static void on_change(void *arg SW_UNUSED)
{
}

static void on_server(int code, const char *why, void *arg)
{
    struct reading *reading = arg;
    if (code)
        (void)sw_err_set(&reading->down, code, "%s",
                         sw_text_or(why, "the API server does not answer"));
    else
        sw_err_done(&reading->down);
}

/* Run the loop for a moment. @return whether to go on waiting */
static bool wait_on(struct reading *reading)
{
    int64_t left_ms = reading->until_ms - sw_loop_now_ms(reading->loop);
    if (*reading->stop || left_ms <= 0 || reading->down.code)
        return false;
    sw_loop_step(reading->loop, left_ms < STEP_MS ? left_ms : STEP_MS);
    return true;
}

/* ---- logs --------------------------------------------------------------------------------------
 */

static void on_log(const struct sw_kube_answer *answer, void *arg)
{
    struct log *log = arg;
    if (answer->code == 0)
        sw_json_set_str(log->reading->logs, answer->text, log->id, NULL);
    log->reading->n_open--;
}

/* @key: "namespace/name" of the pod */
static void ask_log(struct reading *reading, const char *key, struct json_object *container)
{
    const char *name = sw_json_str(container, "", "name", NULL), *slash = strchr(key, '/');
    bool ended = sw_json_find(container, "state", "terminated", NULL),
         runs = sw_json_find(container, "state", "running", NULL),
         before = sw_json_find(container, "lastState", "terminated", NULL);
    bool previous = !ended && !runs && before;
    if (!(ended || runs || before) || !slash || reading->n_asked >= MAX_LOGS)
        return;
    struct log *log = &reading->asked[reading->n_asked++];
    SW_AUTO_CHARS *ns = sw_strndup(key, (size_t)(slash - key));
    log->reading = reading;
    log->id = sw_printf("%s %s %s %lld", key, name, previous ? "true" : "false",
                        (long long)sw_json_int(container, 0, "restartCount", NULL));
    reading->n_open++;
    (void)sw_kube_logs(reading->kube, ns, slash + 1,
                       &(struct sw_request_opts){ .container = name,
                                                  .tail_lines = LOG_LINES,
                                                  .limit_bytes = LOG_BYTES,
                                                  .timeout_ms = LOG_MS,
                                                  .previous = previous },
                       on_log, log);
}

static void read_logs(struct reading *reading, struct json_object *objects)
{
    for (size_t i = 0; i < sw_json_len(objects); i++) {
        struct json_object *entry = sw_json_at(objects, i);
        struct json_object *containers = sw_json_get(sw_json_at(entry, 2), "containers");
        if (!sw_streq(json_object_get_string(sw_json_at(entry, 0)), "pod"))
            continue;
        for (size_t c = 0; c < sw_json_len(containers); c++)
            ask_log(reading, json_object_get_string(sw_json_at(entry, 1)),
                    sw_json_at(containers, c));
    }
    while (reading->n_open && wait_on(reading))
        ;
}

/* ---- objects -----------------------------------------------------------------------------------
 */

/* The objects of @from without other resources than @name, and their Events.
 * @return the caller's; NULL: there is no such resource */
static struct json_object *only(struct json_object *from, const char *name)
{
    bool found = false;
    struct json_object *kept = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(from); i++) {
        struct json_object *entry = sw_json_at(from, i);
        const char *kind = json_object_get_string(sw_json_at(entry, 0)),
                   *key = json_object_get_string(sw_json_at(entry, 1));
        bool is_resource = sw_streq(kind, "resource");
        bool fits = is_resource ? sw_streq(key + 1, name)
                    : sw_streq(kind, "event")
                        ? sw_streq(sw_json_str(sw_json_at(entry, 2), "", "of", NULL), name)
                        : true;
        found |= is_resource && fits;
        if (fits)
            (void)json_object_array_add(kept, json_object_get(entry));
    }
    if (found)
        return kept;
    (void)json_object_put(kept);
    return NULL;
}

static int read_all(struct reading *reading, const char *version, const char *name,
                    struct json_object **document, struct sw_err *err)
{
    struct sw_buffer text = { 0 };
    size_t len;
    SW_AUTO_JSON *doc = NULL;
    while (!web_snapshot_is_synced(reading->snapshot))
        if (!wait_on(reading))
            return reading->down.code
                       ? sw_err_set(err, SW_UNAVAILABLE, "%s", sw_err_text(&reading->down))
                       : sw_err_set(err, SW_UNAVAILABLE, "it was not read in time");
    web_snapshot_document(reading->snapshot, version, NULL, &text);
    SW_AUTO_CHARS *json = sw_buffer_take(&text, &len);
    int rc = sw_json_parse(json, len, &(struct sw_json_opts){ .max_bytes = len + 1 }, &doc, err);
    if (rc < 0)
        return rc;
    const char *trouble = sw_json_str(doc, NULL, "about", "trouble", "resource", NULL);
    if (trouble) /* of the others the page says that they are not shown */
        return sw_err_set(err, SW_UNAVAILABLE, "%s", trouble);
    if (name) {
        struct json_object *kept = only(sw_json_get(doc, "objects"), name);
        if (!kept)
            return sw_err_set(err, SW_NOTFOUND, "there is no SpecialResource '%s'", name);
        sw_json_set(doc, kept, "objects", NULL);
    }
    read_logs(reading, sw_json_get(doc, "objects"));
    sw_json_set(doc, json_object_get(reading->logs), "logs", NULL);
    *document = SW_TAKE(doc);
    return 0;
}

int sw_web_read(struct sw_loop *loop, const struct sw_web_opts *opts, const char *name,
                int64_t timeout_ms, const int *stop, struct json_object **document,
                struct sw_err *err)
{
    struct reading reading = { .loop = loop,
                               .stop = stop,
                               .until_ms = sw_loop_now_ms(loop) + timeout_ms };
    int rc = sw_kube_new(loop, opts->config,
                         &(struct sw_kube_opts){ .user_agent = "slipway-report",
                                                 .on_server = on_server,
                                                 .arg = &reading },
                         &reading.kube, err);
    if (rc < 0)
        return rc;
    reading.logs = json_object_new_object();
    reading.snapshot = web_snapshot_new(loop, reading.kube, on_change, NULL);
    rc = read_all(&reading, opts->version, name, document, err);
    web_snapshot_free(reading.snapshot);
    sw_kube_free(reading.kube);
    for (size_t i = 0; i < reading.n_asked; i++)
        free(reading.asked[i].id);
    (void)json_object_put(reading.logs);
    sw_err_done(&reading.down);
    return rc;
}

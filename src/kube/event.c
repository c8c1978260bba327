#include "data/data.h"
#include "data/text/cut.h"
#include "kube/kube.h"

enum { MESSAGE_BYTES = 1024 }; /* the API servers of events.k8s.io take no longer one */

struct json_object *sw_kube_event_doc(const struct sw_kube_event *e)
{
    char when[21];
    struct json_object *doc = json_object_new_object();
    sw_time_rfc3339(e->at_ms, when);
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Event", "kind", NULL);
    sw_json_set_str(doc, e->id, "metadata", "name", NULL);
    sw_json_set_str(doc, e->ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, e->of.api_version, "involvedObject", "apiVersion", NULL);
    sw_json_set_str(doc, e->of.kind, "involvedObject", "kind", NULL);
    if (e->of.ns)
        sw_json_set_str(doc, e->of.ns, "involvedObject", "namespace", NULL);
    sw_json_set_str(doc, e->of.name, "involvedObject", "name", NULL);
    sw_json_set_str(doc, e->of.uid, "involvedObject", "uid", NULL);
    sw_json_set_str(doc, e->reason, "reason", NULL);
    SW_AUTO_CHARS *message = sw_text_cut(e->message, MESSAGE_BYTES);
    sw_json_set_str(doc, message, "message", NULL);
    sw_json_set_str(doc, e->warning ? "Warning" : "Normal", "type", NULL);
    sw_json_set_str(doc, e->component, "source", "component", NULL);
    if (e->host)
        sw_json_set_str(doc, e->host, "source", "host", NULL);
    sw_json_set_str(doc, when, "firstTimestamp", NULL);
    sw_json_set_str(doc, when, "lastTimestamp", NULL);
    sw_json_set(doc, json_object_new_int(1), "count", NULL);
    return doc;
}

static void on_sent(const struct sw_kube_answer *a, void *arg SW_UNUSED)
{
    if (a->code < 0)
        sw_log(SW_LOG_DEBUG, "event not recorded", "error", sw_err_text(a->err), NULL);
}

void sw_kube_event_send(struct sw_kube *k, const struct sw_kube_event *event, uint64_t serial)
{
    struct sw_kube_event e = *event;
    SW_AUTO_CHARS *id = sw_printf("%s.%llx", e.of.name,
                                  (unsigned long long)e.at_ms * 1000000 + serial % 1000000);
    e.id = id;
    SW_AUTO_JSON *doc = sw_kube_event_doc(&e);
    (void)sw_kube_create(k, &sw_kind_event, e.ns, NULL, doc,
                         &(struct sw_request_opts){ .purpose = "events" }, on_sent, NULL);
}

const char *sw_kube_event_time(struct json_object *event)
{
    static const char *const fields[] = { "lastTimestamp", "eventTime" };
    const char *time = sw_json_str(event, NULL, "series", "lastObservedTime", NULL);
    for (size_t i = 0; !time && i < SW_COUNT(fields); i++)
        time = sw_json_str(event, NULL, fields[i], NULL);
    return time ? time : sw_json_str(event, "", "metadata", "creationTimestamp", NULL);
}

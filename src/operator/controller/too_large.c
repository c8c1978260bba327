/* Resources and modules that take too much memory: they are left as they were, and said. A text of
 * 1 MiB may be a tree of 200, and what is watched is read whole. */
#include "operator/controller/private.h"

#include "data/json/large.h"
#include "data/json/stream.h"

/* Of spec and metadata; a status is slipway's own. */
enum { MAX_BYTES = 4 << 20 };

static bool is_too_large(struct json_object *object)
{
    return sw_stream_is_stripped(object) ||
           sw_json_tree_bytes(sw_json_get(object, "spec")) +
                   sw_json_tree_bytes(sw_json_get(object, "metadata")) >
               MAX_BYTES;
}

static void on_written(const struct sw_kube_answer *a, void *arg SW_UNUSED)
{
    if (a->code < 0)
        sw_log(SW_LOG_DEBUG, "status not written", "error", sw_err_text(a->err), NULL);
}

static void report(struct sw_controller *c, const char *kind_name, const char *field,
                   const struct sw_watch_event *w)
{
    static const char message[] = "TooLarge: it takes more than 4 MiB of memory, and is not read: "
                                  "make its spec smaller";
    static const char *const kept[] = { "metadata.generation", NULL };
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, SW_GROUP_VERSION, kind_name);
    SW_AUTO_JSON *body = json_object_new_object();
    sw_log(SW_LOG_WARN, "TooLarge", "kind", kind_name, "name", w->name, "message", message, NULL);
    sw_kube_event_send(c->kube,
                       &(struct sw_kube_event){
                           .ns = "default",
                           .of = { SW_GROUP_VERSION, kind_name, .name = w->name, .uid = w->uid },
                           .reason = "TooLarge",
                           .message = message,
                           .warning = true,
                           .component = "slipway",
                           .at_ms = sw_loop_wall_ms(c->loop) },
                       c->own->n_events++);
    sw_json_set_str(body, message, "status", field, NULL);
    if (kind)
        (void)sw_kube_patch(
            c->kube, kind, NULL, w->name, SW_PATCH_MERGE, body,
            REQUEST_OWN(KINDS, .subresource = "status", .retries = 2, .fields = kept), on_written,
            NULL);
}

bool document_is_too_large(struct sw_controller *c, const char *kind, const char *field,
                           const struct sw_watch_event *w)
{
    SW_AUTO_CHARS *key = sw_printf("%s/%s", kind, w->name);
    bool is = w->type != SW_WATCH_DELETED && is_too_large(w->object);
    int64_t generation = sw_json_int(w->object, 0, "metadata", "generation", NULL);
    if (!is) {
        (void)sw_json_del(c->own->too_large, key, NULL);
        return false;
    }
    if (sw_json_int(c->own->too_large, -1, key, NULL) == generation)
        return true;
    if (!c->own->too_large)
        c->own->too_large = json_object_new_object();
    (void)json_object_object_add(c->own->too_large, key, json_object_new_int64(generation));
    report(c, kind, field, w);
    return true;
}

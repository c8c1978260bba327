/* Resources and modules that take too much memory: they are left as they were, and said. A text of
 * 1 MiB may be a tree of 200, and what is watched is read whole. */
#include "operator/controller/private.h"

#include "data/json/large.h"
#include "data/json/stream.h"

/* Of spec and metadata; a status is slipway's own. Of one, and of all together: the small ones and
 * the others each, so that a few large ones take no room from many small. */
enum { MAX_BYTES = 4 << 20, MAX_ALL_BYTES = 24 << 20, SMALL_BYTES = 128 << 10 };

static size_t bytes_of(struct json_object *object)
{
    size_t bytes = sw_json_tree_bytes(sw_json_get(object, "spec")) +
                   sw_json_tree_bytes(sw_json_get(object, "metadata"));
    return sw_stream_is_stripped(object) ? (size_t)MAX_BYTES + 1 : bytes;
}

static size_t *sum_of(struct sw_controller *c, size_t bytes)
{
    return bytes > SMALL_BYTES ? &c->own->large_bytes : &c->own->small_bytes;
}

/* Count the object under @key, whose spec and metadata take @bytes (0: it is gone), among all.
 * NULL: there is room; else what to say. */
static const char *why_too_large(struct sw_controller *c, const char *key, size_t bytes)
{
    struct controller_private *own = c->own;
    size_t before = (size_t)sw_json_int(own->bytes, 0, key, NULL);
    *sum_of(c, before) -= before;
    (void)sw_json_del(own->bytes, key, NULL);
    if (bytes > MAX_BYTES)
        return "TooLarge: it takes more than 4 MiB of memory, and is not read: make its spec "
               "smaller";
    if (*sum_of(c, bytes) + bytes > MAX_ALL_BYTES)
        return "TooLarge: it and others like it together take more than 24 MiB of memory, and it "
               "is "
               "not read: delete others, or make their specs smaller, then change this one";
    if (!own->bytes)
        own->bytes = json_object_new_object();
    if (bytes)
        (void)json_object_object_add(own->bytes, key, json_object_new_int64((int64_t)bytes));
    *sum_of(c, bytes) += bytes;
    return NULL;
}

void documents_forget(struct sw_controller *c)
{
    json_object_put(SW_TAKE(c->own->bytes));
    json_object_put(SW_TAKE(c->own->too_large));
    c->own->small_bytes = c->own->large_bytes = 0;
}

static void on_written(const struct sw_kube_answer *a, void *arg SW_UNUSED)
{
    if (a->code < 0)
        sw_log(SW_LOG_DEBUG, "status not written", "error", sw_err_text(a->err), NULL);
}

static void report(struct sw_controller *c, const char *kind_name, const char *field,
                   const char *message, const struct sw_watch_event *w)
{
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
    const char *why = why_too_large(c, key, w->type == SW_WATCH_DELETED ? 0 : bytes_of(w->object));
    int64_t generation = sw_json_int(w->object, 0, "metadata", "generation", NULL);
    if (!why) {
        (void)sw_json_del(c->own->too_large, key, NULL);
        return false;
    }
    if (sw_json_int(c->own->too_large, -1, key, NULL) == generation)
        return true;
    if (!c->own->too_large)
        c->own->too_large = json_object_new_object();
    (void)json_object_object_add(c->own->too_large, key, json_object_new_int64(generation));
    report(c, kind, field, why, w);
    return true;
}

/* What the engine is given by others: the status that an earlier run (or anybody) wrote, manifests
 * with their annotations, objects as a server has them. One JSON document a line: the status, then
 * manifests; each is also told as seen in the cluster, and so is the next one under its key. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/engine.h"
#include "operator/engine/recording/recording.h"

#define MAX_DOCS 16

struct input {
    struct json_object *docs[MAX_DOCS];
    size_t n;
};

static void read_lines(struct input *in, const char *text, size_t len)
{
    while (len && in->n < MAX_DOCS) {
        const char *end = memchr(text, '\n', len);
        size_t line = end ? (size_t)(end - text) : len;
        if (sw_json_parse(text, line, NULL, &in->docs[in->n], NULL) == 0)
            in->n++;
        text += line + (end != NULL);
        len -= line + (end != NULL);
    }
}

/* Answer what must be answered; @serials of renders are kept by the caller. */
static uint64_t step(struct sw_engine *e, struct sw_event *event, uint64_t *status)
{
    uint64_t render = 0;
    const struct sw_actions *acts = sw_engine_step(e, event);
    for (size_t i = 0; i < acts->n; i++) {
        const struct sw_action *a = &acts->items[i];
        free(sw_action_json(a, false));
        if (a->kind == SW_ACT_RENDER)
            render = a->serial;
        if (a->kind == SW_ACT_STATUS)
            *status = a->serial;
    }
    return render;
}

static void observe(struct sw_engine *e, struct json_object *named, struct json_object *doc,
                    uint64_t *status)
{
    struct sw_event seen = {
        .kind = SW_EV_OBSERVED,
        .now_ms = 2000,
        .key = { sw_obj_api_version(named), sw_obj_kind(named), sw_obj_namespace(named),
                 sw_obj_name(named) },
        .object = doc,
    };
    (void)step(e, &seen, status);
}

static void play(struct sw_engine *e, const struct input *in)
{
    struct sw_state_spec states[] = { { .name = "a", .label = "a" } };
    struct sw_spec spec = { .name = "r",
                            .uid = "u",
                            .revision = "1",
                            .states = states,
                            .n_states = 1,
                            .status = in->n ? in->docs[0] : NULL };
    struct sw_rendered_object objects[MAX_DOCS];
    uint64_t status = 0;
    struct sw_event first = { .kind = SW_EV_SPEC, .now_ms = 1000, .spec = &spec };
    struct sw_event rendered = { .kind = SW_EV_RENDERED, .now_ms = 1000, .state = "a" };
    rendered.serial = step(e, &first, &status);
    rendered.objects = objects;
    for (size_t i = 1; i < in->n; i++)
        if (in->docs[i]) /* null renders no object */
            objects[rendered.n_objects++] = (struct sw_rendered_object){ .doc = in->docs[i],
                                                                         .awaited = i % 2 };
    (void)step(e, &rendered, &status);
    struct sw_event written = { .kind = SW_EV_STATUS_WRITTEN, .now_ms = 1500, .serial = status };
    (void)step(e, &written, &status);
    for (size_t i = 1; i < in->n; i++) {
        observe(e, in->docs[i], in->docs[i], &status);
        observe(e, in->docs[i], in->docs[1 + i % (in->n - 1)], &status);
    }
    spec.deleting = true;
    (void)step(e, &first, &status);
    (void)json_object_put(sw_engine_status(e, 3000));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct input in = { 0 };
    read_lines(&in, (const char *)data, len);
    struct sw_node_set *set = sw_node_set_new();
    (void)sw_node_set_put(set, &(struct sw_node_set_facts){ .name = "n", .ready = true }, NULL);
    struct sw_engine *e = sw_engine_new(set, NULL);
    play(e, &in);
    sw_engine_free(e);
    sw_node_set_free(set);
    for (size_t i = 0; i < in.n; i++)
        (void)json_object_put(in.docs[i]);
    return 0;
}

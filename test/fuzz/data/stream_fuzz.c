/* Any bytes as a list, a watch or an object, in pieces: what comes out is what reading the whole
 * and projecting it gives. The first byte says which, and how long the pieces are. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/json/stream.h"

struct seen {
    struct json_object *items;
};

static int on_item(void *arg, const char *type, struct json_object *object, struct sw_err *err)
{
    (void)type;
    (void)err;
    struct seen *seen = arg;
    (void)json_object_array_add(seen->items, json_object_get(object));
    return 0;
}

/* @return whether all of it could be read */
static bool feed(struct sw_stream *s, const char *bytes, size_t len, size_t step)
{
    SW_ERR(err);
    for (size_t at = 0; at < len; at += step)
        if (sw_stream_feed(s, bytes + at, len - at < step ? len - at : step, &err) < 0)
            return false;
    return sw_stream_end(s, &err) == 0;
}

static void check_list(const struct sw_projection *p, struct json_object *items, const char *text,
                       size_t len)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_json_opts opts = { .refuse_duplicate = true };
    if (sw_json_parse(text, len, &opts, &doc, &err) < 0)
        return; /* keys that come twice, numbers out of range: the stream minds neither */
    struct json_object *all = sw_json_get(doc, "items");
    if (sw_json_len(items) != sw_json_len(all))
        abort();
    for (size_t i = 0; i < sw_json_len(items); i++) {
        SW_AUTO_JSON *want = sw_projection_of(p, sw_json_at(all, i));
        if (!sw_json_equal(want, sw_json_at(items, i)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = { "a", "b.c", "d[*].e", "!a.x", "b['f.g']" };
    if (size < 1)
        return 0;
    SW_ERR(err);
    SW_AUTO(sw_projection) *p = NULL;
    if (sw_projection_compile(paths, SW_COUNT(paths), &p, &err) < 0)
        abort();
    const struct sw_stream_opts opts = { .kind = data[0] % 3, .projection = p };
    SW_AUTO_JSON *items = json_object_new_array();
    struct seen seen = { .items = items };
    SW_AUTO(sw_stream) *s = sw_stream_new(&opts, on_item, &seen);
    const char *text = (const char *)data + 1;
    if (feed(s, text, size - 1, data[0] / 3 + 1) && opts.kind == SW_STREAM_LIST)
        check_list(p, items, text, size - 1);

    /* with little memory the same items come, some of them stripped */
    const struct sw_stream_opts little = { .kind = data[0] % 3, .max_tree_bytes = 1000 };
    SW_AUTO_JSON *stripped = json_object_new_array();
    struct seen some = { .items = stripped };
    SW_AUTO(sw_stream) *t = sw_stream_new(&little, on_item, &some);
    if (feed(t, text, size - 1, data[0] / 3 + 1) && opts.kind == SW_STREAM_LIST &&
        sw_json_len(stripped) != sw_json_len(items))
        abort();

    SW_AUTO_CHARS *path = sw_strndup(text, size - 1);
    const char *const one[] = { path };
    SW_AUTO(sw_projection) *other = NULL;
    (void)!sw_projection_compile(one, 1, &other, &err);
    return 0;
}

/* A question to an image registry, asked by the helper (chart/registry/lookup.h). */
#include "chart/fetch/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "chart/fetch/reach/reach.h"
#include "chart/registry/lookup.h"
#include "chart/registry/registry.h"
#include "data/json/json.h"
#include "data/json/path.h"

struct work {
    struct sw_loop *loop;
    struct json_object **answer;
    char **bytes;
    size_t *len;
};

static void on_answer(struct json_object *answer, const char *bytes, size_t len, void *arg)
{
    struct work *w = arg;
    *w->answer = json_object_get(answer);
    *w->bytes = sw_strndup(bytes ? bytes : "", len);
    *w->len = len;
    sw_loop_stop(w->loop);
}

/* The author of a resource names the image, whose registry may be at a private address. The admin
 * of the cluster names its mirrors, and the registry that is in the cluster itself. */
static void add_places(struct sw_reach *reach, struct json_object *lookup)
{
    static const char *const own[] = {
        "image-registry.openshift-image-registry.svc:5000",
        "image-registry.openshift-image-registry.svc.cluster.local:5000",
    };
    SW_AUTO(sw_mirrors) *mirrors = NULL;
    struct json_object *images = sw_json_get(lookup, "images");
    SW_ERR(err);
    for (size_t i = 0; i < SW_COUNT(own); i++)
        sw_reach_add_admins(reach, own[i]);
    if (sw_registry_lookup_mirrors(lookup, &mirrors, &err) < 0)
        return;
    for (size_t i = 0; i < sw_json_len(images); i++) {
        struct sw_image_ref ref = { 0 };
        struct sw_pull_sources sources = { 0 };
        if (sw_image_ref_parse(sw_json_str(sw_json_at(images, i), "", "reference", NULL), &ref,
                               &err) < 0)
            continue;
        sw_reach_add_written(reach, ref.host);
        if (sw_mirrors_sources(mirrors, &ref, &sources, &err) == 0)
            for (size_t k = 0; k < sources.n; k++)
                if (sources.items[k].is_mirror)
                    sw_reach_add_admins(reach, sources.items[k].ref.host);
        sw_pull_sources_done(&sources);
        sw_image_ref_done(&ref);
    }
}

void fetch_image(struct json_object *lookup, struct json_object **answer, char **bytes, size_t *len)
{
    struct sw_loop *loop = sw_loop_new(NULL);
    struct work w = { .loop = loop, .answer = answer, .bytes = bytes, .len = len };
    struct sw_reach *reach = sw_reach_enforced();
    if (reach)
        add_places(reach, lookup);
    struct sw_registry_lookup *asked = sw_registry_lookup_open(loop, lookup, on_answer, &w);
    sw_loop_run(loop);
    sw_registry_lookup_close(asked);
    sw_loop_free(loop);
}

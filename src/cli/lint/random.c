/* What a chart makes at random (passwords, keys, certificates): where it does not look up what the
 * cluster has, each render is another, and each walk changes the objects. */
#include "cli/lint/random.h"

#include <string.h>

#include "data/data.h"
#include "data/text/base64.h"

/* As the API server gives a Secret back: what is in stringData is in data. */
static struct json_object *stored(struct json_object *doc)
{
    struct json_object *copy = sw_json_copy(doc), *plain = sw_json_get(copy, "stringData");
    if (!sw_streq(sw_obj_kind(copy), "Secret") || !json_object_is_type(plain, json_type_object))
        return copy;
    json_object_object_foreach(plain, key, value)
    {
        const char *text = json_object_get_string(value);
        size_t len;
        SW_AUTO_CHARS *encoded = sw_base64_encode(text ? text : "", text ? strlen(text) : 0, &len);
        sw_json_set_str(copy, encoded, "data", key, NULL);
    }
    (void)sw_json_del(copy, "stringData", NULL);
    return copy;
}

struct cluster {
    const struct sw_rendered *rendered;
    const char *ns; /* of objects that name none */
};

/* A lookup that finds what was rendered before. */
static int find(void *arg, const char *api_version, const char *kind, const char *ns,
                const char *name, struct json_object **out, struct sw_err *err)
{
    const struct cluster *c = arg;
    (void)err;
    *out = NULL;
    for (size_t i = 0; name && i < sw_rendered_n_manifests(c->rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(c->rendered, i);
        struct json_object *doc = m->doc;
        const char *own = *sw_obj_namespace(doc) ? sw_obj_namespace(doc)
                          : m->namespace         ? m->namespace
                                                 : c->ns;
        if (sw_streq(sw_obj_api_version(doc), api_version) && sw_streq(sw_obj_kind(doc), kind) &&
            sw_streq(sw_obj_name(doc), name) && (!ns || !*ns || sw_streq(own, ns))) {
            *out = stored(doc);
            break;
        }
    }
    return 0;
}

void sw_lint_random(const struct sw_plan *plan, const struct sw_render_env *env,
                    const struct sw_rendered *rendered, struct sw_problems *problems)
{
    struct cluster cluster = { rendered, env->namespace ? env->namespace : "default" };
    struct sw_render_env again = *env;
    SW_AUTO(sw_rendered) *other = NULL;
    SW_ERR(err);
    again.lookup = find;
    again.lookup_arg = &cluster;
    again.on_fault = NULL; /* an error ends it here */
    if (sw_recipe_render(plan, &again, SW_ALL_STATES, &other, &err) < 0 ||
        sw_rendered_n_manifests(other) != sw_rendered_n_manifests(rendered))
        return; /* what it finds makes it another chart */
    for (size_t i = 0; i < sw_rendered_n_manifests(rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(rendered, i),
                                 *n = sw_rendered_manifest(other, i);
        bool same_object = sw_streq(sw_obj_kind(m->doc), sw_obj_kind(n->doc)) &&
                           sw_streq(sw_obj_name(m->doc), sw_obj_name(n->doc));
        if (same_object && !sw_json_equal(m->doc, n->doc))
            sw_problems_add(
                problems, false, m->path, m->line,
                "%s %s comes out differently each time it is rendered: it has something "
                "random that no `lookup` keeps, and each walk changes it",
                sw_obj_kind(m->doc), sw_obj_name(m->doc));
    }
}

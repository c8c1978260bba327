/* Templates in a resource: which have some, and what they were rendered to, by a renderer of the
 * resource's own (operator/renderer/spec.c). */
#include "operator/controller/private.h"

#include <stdlib.h>
#include <string.h>

static bool is_template(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) &&
           strstr(json_object_get_string(value), "{{");
}

static bool has_template(struct json_object *value)
{
    if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < sw_json_len(value); i++)
            if (has_template(sw_json_at(value, i)))
                return true;
    } else if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, key, item)
        {
            (void)key;
            if (has_template(item))
                return true;
        }
    }
    return is_template(value);
}

bool resolve_is_needed(struct json_object *doc)
{
    return has_template(sw_json_get(doc, "spec"));
}

void spec_done(struct resource *r)
{
    sw_render_wait_free(SW_TAKE(r->own->spec_wait));
    sw_renderer_free(SW_TAKE(r->own->spec_renderer));
    json_object_put(SW_TAKE(r->own->spec));
    json_object_put(SW_TAKE(r->own->spec_of));
    free(SW_TAKE(r->own->spec_request));
}

/* Render it, unless that was done with the same values.
 * @return as sw_renderer_resolve() */
static int render_spec(struct resource *r, struct sw_render_wait *wait, struct json_object *values,
                       struct sw_err *err)
{
    SW_AUTO_JSON *request = json_object_new_object();
    struct json_object *spec = NULL;
    sw_json_set(request, json_object_get(sw_json_get(r->seen, "spec")), "spec", NULL);
    sw_json_set(request, json_object_get(values), "values", NULL);
    SW_AUTO_CHARS *text = sw_json_text(request, SW_JSON_PLAIN, NULL);
    bool is_same = sw_streq(text, r->own->spec_request),
         is_old = r->own->spec && sw_json_equal(r->own->spec_of, sw_json_get(r->seen, "spec"));
    if (is_same || (!wait && is_old && r->c->opts.renderers.program))
        return 0;
    if (!r->own->spec_renderer)
        r->own->spec_renderer = sw_renderer_new(r->c->renderers, r->name, NULL);
    int rc = sw_renderer_resolve(r->own->spec_renderer, wait, request, &spec, err);
    if (rc < 0)
        return rc;
    json_object_put(r->own->spec);
    free(r->own->spec_request);
    json_object_put(r->own->spec_of);
    r->own->spec = spec;
    r->own->spec_of = json_object_get(sw_json_get(r->seen, "spec"));
    r->own->spec_request = SW_TAKE(text);
    return 0;
}

int resolve_spec(struct resource *r, struct sw_render_wait *wait, struct json_object *values,
                 struct json_object **out, struct sw_err *err)
{
    int rc = render_spec(r, wait, values, err);
    if (rc < 0)
        return rc;
    *out = json_object_new_object();
    json_object_object_foreach(r->seen, key, value)
    {
        bool is_spec = sw_streq(key, "spec");
        (void)json_object_object_add(*out, key, json_object_get(is_spec ? r->own->spec : value));
    }
    return 0;
}

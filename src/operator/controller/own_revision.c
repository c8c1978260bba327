/* The revision of a release of a subchart (slipway.dev/releases). Each has its own: it is installed
 * when it comes, and upgraded when its chart or its values change, whatever else of the recipe
 * does. What was reached is in the status, with the state:
 *   {"name", "namespace", "version", "digest", "revision", "from", "deployed"}
 * "from" is the version that an upgrade began with, "deployed" the one that was Ready last; a state
 * whose release is not installed has name, namespace and, where another resource has installed it,
 * that one's name as "owner". */
#include "operator/controller/core.h"

#include <string.h>

static const char *namespace_of(const struct resource *r, const struct sw_release_of_state *release)
{
    return release->namespace ? release->namespace : resource_namespace(r);
}

/* Was it installed before its revision was written to the status, or by another resource, which has
 * handed it over? */
static bool was_there(const struct resource *r, const struct sw_recipe_state *state,
                      struct json_object *recorded)
{
    struct json_object *inventory = sw_json_get(r->status, "inventory"),
                       *known = sw_json_get(recorded, "release");
    bool was_ready = recorded && !known && sw_json_get(recorded, "readyAt");
    for (size_t i = 0; was_ready && i < sw_json_len(inventory); i++)
        if (sw_streq(sw_json_str(sw_json_at(inventory, i), "", "state", NULL), state->name))
            return true;
    return sw_json_get(known, "owner");
}

static bool is_same_release(const struct resource *r, const struct sw_release_of_state *release,
                            struct json_object *known)
{
    return sw_json_get(known, "revision") &&
           sw_streq(sw_json_str(known, "", "name", NULL), release->name) &&
           sw_streq(sw_json_str(known, "", "namespace", NULL), namespace_of(r, release));
}

struct json_object *own_revision_of(const struct resource *r, size_t state,
                                    struct json_object *others)
{
    const struct sw_recipe_state *s = &r->plan->states[state];
    const struct sw_release_of_state *release = s->release;
    if (!release)
        return NULL;
    struct json_object *recorded = sw_json_find_by(sw_json_get(r->status, "states"), "name",
                                                   s->name),
                       *known = sw_json_get(recorded, "release"), *doc = json_object_new_object();
    const char *digest = r->plan->digests[state], *deployed = NULL, *from = NULL;
    const char *owner = sw_json_str(others, NULL, release->shared ? release->shared : "", NULL);
    int64_t revision = 1;
    if (!is_same_release(r, release, known)) {
        deployed = was_there(r, s, recorded) ? release->version : NULL;
    } else {
        bool same = sw_streq(sw_json_str(known, "", "digest", NULL), digest);
        deployed = sw_json_str(known, NULL, "deployed", NULL);
        from = same ? sw_json_str(known, NULL, "from", NULL) : deployed;
        revision = sw_json_int(known, 1, "revision", NULL) + !same;
    }
    sw_json_set_str(doc, release->name, "name", NULL);
    sw_json_set_str(doc, namespace_of(r, release), "namespace", NULL);
    sw_json_set_str(doc, release->version, "version", NULL);
    sw_json_set_str(doc, digest, "digest", NULL);
    sw_json_set(doc, json_object_new_int64(revision), "revision", NULL);
    if (owner)
        sw_json_set_str(doc, owner, "owner", NULL);
    if (from)
        sw_json_set_str(doc, from, "from", NULL);
    if (deployed)
        sw_json_set_str(doc, deployed, "deployed", NULL);
    return doc;
}

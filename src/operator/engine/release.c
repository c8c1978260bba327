/* The release of its own that a state belongs to (slipway.dev/releases): its revision, and the
 * steps in which it is installed or upgraded, for the status. */
#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"
#include "operator/engine/release_step.h"

struct step_count {
    size_t ready, total;
};

void release_take(struct state *s, struct json_object *release)
{
    const char *deployed = sw_json_str(s->release, NULL, "deployed", NULL);
    SW_AUTO_JSON *before = s->release;
    s->release = sw_json_copy(release);
    if (deployed && release && /* the status that @release is made of may be an older one */
        sw_streq(sw_json_str(before, "", "digest", NULL), sw_json_str(release, "", "digest", NULL)))
        sw_json_set_str(s->release, deployed, "deployed", NULL);
}

static bool is_installed(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text)
            return true;
    return false;
}

static bool has_definition(const struct object *o)
{
    return sw_streq(o->key.kind, "CustomResourceDefinition");
}

/* Count @o in the steps that it is part of: a hook of two events in both. */
static void count(const struct object *o, struct step_count steps[static SW_RELEASE_N_STEPS])
{
    bool first_over = o->second || (o->again && object_waits_again(o) && o->done_hash == o->hash);
    enum sw_release_step step = o->first == SW_STAGE_CRDS
                                    ? (has_definition(o) ? SW_RELEASE_DEFINITIONS
                                                         : SW_RELEASE_OBJECTS)
                                : o->first < 0 ? SW_RELEASE_BEFORE
                                : o->first > 0 ? SW_RELEASE_AFTER
                                               : SW_RELEASE_OBJECTS;
    steps[step].total++;
    steps[step].ready += o->again ? first_over : object_is_ready(o);
    if (o->again) {
        steps[SW_RELEASE_AFTER].total++;
        steps[SW_RELEASE_AFTER].ready += o->second && object_is_ready(o);
    }
}

static void count_all(const struct state *s, struct step_count steps[static SW_RELEASE_N_STEPS])
{
    bool upgrades = sw_json_get(s->release, "from");
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && !(upgrades && s->objects[i]->once)) /* of the install */
            count(s->objects[i], steps);
}

static const char *name_of(const struct state *s, int step)
{
    return sw_release_step_name((enum sw_release_step)step, sw_json_get(s->release, "from"));
}

static bool is_under_way(const struct state *s)
{
    return s->phase >= PH_APPLYING && s->phase != PH_READY && s->phase != PH_REMOVED &&
           s->phase != PH_REMOVING;
}

const char *release_step(struct sw_engine *e, const struct state *s)
{
    struct step_count steps[SW_RELEASE_N_STEPS] = { 0 };
    const char *from = sw_json_str(s->release, NULL, "from", NULL),
               *to = sw_json_str(s->release, "", "version", NULL);
    if (!from || sw_streq(from, to) || !is_under_way(s) || !is_installed(s) || state_rolled_back(s))
        return "";
    count_all(s, steps);
    int n = 0, at = 0;
    const char *name = "";
    for (int i = 0; i < SW_RELEASE_N_STEPS; i++) {
        n += steps[i].total > 0;
        if (steps[i].ready < steps[i].total && !at) {
            at = n;
            name = name_of(s, i);
        }
    }
    return at ? sw_arena_printf(e->arena, "%s to %s, step %d of %d (%s): ", from, to, at, n, name)
              : sw_arena_printf(e->arena, "%s to %s: ", from, to);
}

/* The steps that there are, in their order; NULL: objects alone. */
static struct json_object *steps_doc(const struct state *s)
{
    struct step_count steps[SW_RELEASE_N_STEPS] = { 0 };
    struct json_object *list = json_object_new_array();
    count_all(s, steps);
    for (int i = 0; i < SW_RELEASE_N_STEPS; i++) {
        if (!steps[i].total)
            continue;
        struct json_object *doc = json_object_new_object();
        sw_json_set_str(doc, name_of(s, i), "name", NULL);
        sw_json_set(doc, json_object_new_int64((int64_t)steps[i].ready), "ready", NULL);
        sw_json_set(doc, json_object_new_int64((int64_t)steps[i].total), "total", NULL);
        (void)json_object_array_add(list, doc);
    }
    if (steps[SW_RELEASE_OBJECTS].total && sw_json_len(list) == 1) {
        json_object_put(list);
        return NULL;
    }
    return list;
}

struct json_object *release_doc(const struct state *s)
{
    struct json_object *doc = json_object_new_object();
    bool is_known = (s->listed && state_is_rendered(s)) || !sw_json_get(s->release, "deployed");
    if (!is_installed(s) && is_known) {
        sw_json_set_str(doc, sw_json_str(s->release, "", "name", NULL), "name", NULL);
        sw_json_set_str(doc, sw_json_str(s->release, "", "namespace", NULL), "namespace", NULL);
        const char *owner = sw_json_str(s->release, NULL, "owner", NULL);
        if (owner)
            sw_json_set_str(doc, owner, "owner", NULL);
        return doc;
    }
    if (s->phase == PH_READY && !state_is_rendering(s) && !state_rolled_back(s))
        sw_json_set_str(s->release, sw_json_str(s->release, "", "version", NULL), "deployed", NULL);
    json_object_object_foreach(s->release, key, value)
    {
        (void)json_object_object_add(doc, key, json_object_get(value));
    }
    struct json_object *steps = is_under_way(s) ? steps_doc(s) : NULL;
    if (steps)
        sw_json_set(doc, steps, "steps", NULL);
    return doc;
}

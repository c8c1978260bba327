#include "cli/recipe/release_steps.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/upgrades.h"
#include "chart/recipe/recipe.h"
#include "data/data.h"
#include "operator/engine/release_step.h"

static const unsigned install = SW_HOOK_PRE_INSTALL | SW_HOOK_POST_INSTALL,
                      upgrade = SW_HOOK_PRE_UPGRADE | SW_HOOK_POST_UPGRADE,
                      before = SW_HOOK_PRE_INSTALL | SW_HOOK_PRE_UPGRADE;

/* ---- what there is -----------------------------------------------------------------------------
 */

/* The version that is there, by the status of the resource; NULL: none. */
static const char *version_there(const struct sw_preview *preview, const struct sw_manifest *m)
{
    const struct sw_recipe_state *state = sw_plan_state(preview->opened.plan, m->state);
    struct json_object *states = sw_json_find(preview->resource, "status", "states", NULL);
    return sw_json_str(sw_json_find_by(states, "name", state->name), NULL, "release", "deployed",
                       NULL);
}

static struct json_object *release_of(struct json_object *releases, const char *name,
                                      const char *ns, const char *from, const char *to)
{
    for (size_t i = 0; i < sw_json_len(releases); i++) {
        struct json_object *r = sw_json_at(releases, i);
        if (sw_streq(sw_json_str(r, "", "name", NULL), name) &&
            sw_streq(sw_json_str(r, "", "namespace", NULL), ns))
            return r;
    }
    struct json_object *doc = json_object_new_object(), *list;
    sw_json_set_str(doc, name, "name", NULL);
    sw_json_set_str(doc, ns, "namespace", NULL);
    if (from)
        sw_json_set_str(doc, from, "from", NULL);
    sw_json_set_str(doc, to, "to", NULL);
    list = sw_json_need_list(doc, "steps", NULL);
    for (int i = 0; i < SW_RELEASE_N_STEPS; i++) {
        struct json_object *step = json_object_new_object();
        sw_json_set_str(step, sw_release_step_name((enum sw_release_step)i, from), "name", NULL);
        (void)sw_json_need_list(step, "objects", NULL);
        (void)json_object_array_add(list, step);
    }
    (void)json_object_array_add(releases, doc);
    return doc;
}

/* ---- one manifest ------------------------------------------------------------------------------
 */

static int change_of(struct sw_preview *preview, const struct sw_preview_pass *pass,
                     const struct sw_manifest *m, const char **out, struct sw_err *err)
{
    struct sw_preview_change change = { 0 };
    int rc = sw_preview_apply(preview, pass, m, &change, err);
    if (rc == 0) {
        sw_preview_strip(change.live);
        sw_preview_strip(change.wanted);
        *out = !change.live                                ? "new"
               : sw_json_equal(change.live, change.wanted) ? "same"
                                                           : "changed";
    }
    sw_preview_change_done(&change);
    return rc;
}

int sw_release_steps_add(struct json_object *releases, struct sw_preview *preview,
                         const struct sw_preview_pass *pass, const struct sw_manifest *m,
                         struct sw_err *err)
{
    const struct sw_release_of_state *release = m->release;
    const char *from = release ? version_there(preview, m) : NULL, *change = NULL;
    unsigned events = m->hook_events & (from ? upgrade : install);
    if (!release || m->is_first || (m->hook_events && !events))
        return 0;
    int rc = m->hook_events ? 0 : change_of(preview, pass, m, &change, err);
    if (rc < 0)
        return rc;
    struct json_object *doc = release_of(releases, release->name,
                                         release->namespace ? release->namespace : preview->ns,
                                         from, release->version);
    bool is_definition = m->from_crds && sw_streq(sw_obj_kind(m->doc), "CustomResourceDefinition");
    for (int i = 0; i < SW_RELEASE_N_STEPS; i++) {
        bool is_in = m->hook_events
                         ? (i == SW_RELEASE_BEFORE && events & before) ||
                               (i == SW_RELEASE_AFTER && events & ~before)
                         : i == (is_definition ? SW_RELEASE_DEFINITIONS : SW_RELEASE_OBJECTS);
        if (!is_in)
            continue;
        struct json_object *object = json_object_new_object(),
                           *step = sw_json_at(sw_json_get(doc, "steps"), (size_t)i);
        sw_json_set_str(object, sw_obj_kind(m->doc), "kind", NULL);
        sw_json_set_str(object, sw_obj_name(m->doc), "name", NULL);
        if (change)
            sw_json_set_str(object, change, "change", NULL);
        (void)json_object_array_add(sw_json_get(step, "objects"), object);
    }
    return 0;
}

/* ---- what changes ------------------------------------------------------------------------------
 */

static bool changes(struct json_object *release)
{
    struct json_object *steps = sw_json_get(release, "steps");
    if (!sw_streq(sw_json_str(release, "", "from", NULL), sw_json_str(release, "", "to", NULL)))
        return true;
    for (size_t i = 0; i < sw_json_len(steps); i++) {
        struct json_object *objects = sw_json_get(sw_json_at(steps, i), "objects");
        for (size_t k = 0; k < sw_json_len(objects); k++)
            if (!sw_streq(sw_json_str(sw_json_at(objects, k), "same", "change", NULL), "same"))
                return true;
    }
    return false;
}

struct json_object *sw_release_steps_changed(struct json_object *releases)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(releases); i++) {
        struct json_object *release = sw_json_at(releases, i);
        if (!changes(release))
            continue;
        struct json_object *all = sw_json_get(release, "steps"), *steps = json_object_new_array();
        for (size_t k = 0; k < sw_json_len(all); k++)
            if (sw_json_len(sw_json_get(sw_json_at(all, k), "objects")))
                (void)json_object_array_add(steps, sw_json_copy(sw_json_at(all, k)));
        struct json_object *copy = sw_json_copy(release);
        sw_json_set(copy, steps, "steps", NULL);
        (void)json_object_array_add(list, copy);
    }
    return list;
}

static int by_name(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    return strcmp(sw_json_str(*x, "", "name", NULL), sw_json_str(*y, "", "name", NULL));
}

/* "crds.example.com (new), ...", "Job x, Job y", or "41: 2 new, 3 changed". */
static void put_objects(char **out, struct json_object *objects)
{
    size_t n = sw_json_len(objects), n_new = 0, n_changed = 0;
    bool is_hook = !sw_json_get(sw_json_at(objects, 0), "change"), listed = is_hook;
    for (size_t i = 0; i < n; i++) {
        const char *change = sw_json_str(sw_json_at(objects, i), "", "change", NULL);
        n_new += sw_streq(change, "new");
        n_changed += sw_streq(change, "changed");
        listed = listed || sw_streq(sw_json_str(sw_json_at(objects, i), "", "kind", NULL),
                                    "CustomResourceDefinition");
    }
    if (!listed) {
        sw_append(out, "%zu", n);
        if (n_new)
            sw_append(out, ": %zu new", n_new);
        if (n_changed)
            sw_append(out, "%s %zu changed", n_new ? "," : ":", n_changed);
        return;
    }
    json_object_array_sort(objects, by_name);
    for (size_t i = 0; i < n; i++) {
        struct json_object *o = sw_json_at(objects, i);
        const char *change = sw_json_str(o, "", "change", NULL);
        bool says = *change && !sw_streq(change, "same");
        sw_append(out, "%s%s%s%s%s%s%s", i ? ", " : "",
                  is_hook ? sw_json_str(o, "", "kind", NULL) : "", is_hook ? " " : "",
                  sw_json_str(o, "", "name", NULL), says ? " (" : "", says ? change : "",
                  says ? ")" : "");
    }
}

/* What AICR's record says of the step. */
static void put_record(char **out, struct json_object *record)
{
    if (!record)
        return;
    SW_AUTO_CHARS *text = sw_aicr_upgrade_text(record, "\n    ", "before");
    sw_append(out, "  record: %s: %s\n", sw_json_str(record, "", "verdict", NULL), text);
}

/* What the recipe sets in vain from then on. */
static void put_vanished(char **out, struct json_object *paths)
{
    for (size_t i = 0; i < sw_json_len(paths); i++)
        sw_append(out, "%s%s", i ? ", " : "  values that its chart does not have any more: ",
                  sw_json_str(sw_json_at(paths, i), "", NULL));
    if (sw_json_len(paths))
        sw_append(out, "\n");
}

char *sw_release_steps_text(struct json_object *releases)
{
    char *out = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(releases); i++) {
        struct json_object *r = sw_json_at(releases, i), *steps = sw_json_get(r, "steps");
        const char *from = sw_json_str(r, NULL, "from", NULL), *to = sw_json_str(r, "", "to", NULL);
        sw_append(&out, "release %s of namespace %s: ", sw_json_str(r, "", "name", NULL),
                  sw_json_str(r, "", "namespace", NULL));
        if (!from)
            sw_append(&out, "install %s\n", to);
        else if (sw_streq(from, to))
            sw_append(&out, "%s, changed\n", to);
        else
            sw_append(&out, "%s to %s\n", from, to);
        put_record(&out, sw_json_get(r, "record"));
        put_vanished(&out, sw_json_get(r, "vanishedValues"));
        for (size_t k = 0; k < sw_json_len(steps); k++) {
            struct json_object *step = sw_json_at(steps, k);
            sw_append(&out, "  %zu  %-18s  ", k + 1, sw_json_str(step, "", "name", NULL));
            put_objects(&out, sw_json_get(step, "objects"));
            sw_append(&out, "\n");
        }
    }
    return out;
}

/* A Namespace that two states render: the earlier one has it (above all the one that slipway makes
 * of the resource's, before all states), with the labels and annotations that the later one
 * renders. */
#include <string.h>

#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/engine/internal.h"

static const char *const maps[] = { "labels", "annotations" };

static bool is_own_mark(const char *key)
{
    return sw_starts_with(key, "slipway.dev/") ||
           sw_starts_with(key, "specialresource.openshift.io/");
}

/* The labels and annotations of @doc that are not slipway's own; NULL: it has none. */
static struct json_object *additions_of(struct json_object *doc)
{
    struct json_object *out = NULL;
    for (size_t i = 0; i < SW_COUNT(maps); i++) {
        struct json_object *map = sw_json_find(doc, "metadata", maps[i], NULL);
        if (!json_object_is_type(map, json_type_object))
            continue;
        json_object_object_foreach(map, key, value)
        {
            if (is_own_mark(key) && !sw_streq(key, SW_ANN_ADOPT))
                continue;
            out = out ? out : json_object_new_object();
            sw_json_set_str(out, json_object_get_string(value), maps[i], key, NULL);
        }
    }
    return out;
}

/* What wanted_by renders of @o is @added from now on (taken; NULL: nothing). */
static void set_added(struct sw_engine *e, struct object *o, struct json_object *added)
{
    if (!sw_json_equal(o->added, added) && o->text)
        state_render_anew(e, o->state);
    json_object_put(o->added);
    o->added = added;
}

void namespace_add(struct sw_engine *e, struct object *o, const struct state *s,
                   const struct variant *v, struct json_object *doc)
{
    if (!sw_streq(o->key.kind, "Namespace") || !sw_streq(o->wanted_by, s->name))
        return;
    sw_text_set(&o->added_by, v->name);
    set_added(e, o, additions_of(doc));
}

void namespace_forget_absent(struct sw_engine *e, const struct state *s, const struct variant *v,
                             const struct sw_event *event)
{
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));) {
        if (!o->added || !sw_streq(o->wanted_by, s->name) || !sw_streq(o->added_by, v->name))
            continue;
        bool any = false;
        for (size_t i = 0; !any && i < event->n_objects; i++) {
            SW_AUTO_JSON *doc = sw_rendered_object_doc(&event->objects[i]);
            any = sw_streq(sw_obj_kind(doc), "Namespace") &&
                  sw_streq(sw_obj_name(doc), o->key.name);
        }
        if (!any)
            set_added(e, o, NULL);
    }
}

void namespace_put_added(const struct object *o, struct json_object *doc)
{
    if (!o->added)
        return;
    json_object_object_foreach(o->added, map, keys)
    {
        json_object_object_foreach(keys, key, value)
        {
            sw_json_set_str(doc, json_object_get_string(value), "metadata", map, key, NULL);
        }
    }
}

/* Is it a mark of slipway, Helm or Kubernetes, which no recipe means for a namespace that is there?
 */
static bool is_mark(const char *key)
{
    static const char *const starts[] = { "meta.helm.sh/", "helm.sh/",
                                          "app.kubernetes.io/managed-by",
                                          "kubernetes.io/metadata.name" };
    bool is = is_own_mark(key);
    for (size_t i = 0; i < SW_COUNT(starts); i++)
        is = is || sw_starts_with(key, starts[i]);
    return is;
}

/* The labels and annotations of @wanted that @o lacks as the cluster has it; heap, "": none. */
static char *lacking(const struct object *o, struct json_object *wanted)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < SW_COUNT(maps); i++) {
        struct json_object *map = sw_json_get(wanted, maps[i]);
        if (!json_object_is_type(map, json_type_object))
            continue;
        json_object_object_foreach(map, key, value)
        {
            const char *is = sw_json_str(o->live, NULL, "metadata", maps[i], key, NULL);
            if (!is_mark(key) && !sw_streq(is, json_object_get_string(value)))
                sw_append(&text, "%s%s=%s", *text ? ", " : "", key, json_object_get_string(value));
        }
    }
    return text;
}

void namespace_report(struct sw_engine *e, const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++) {
        const struct object *o = s->objects[i];
        if (!o->text || !o->live || !o->borrowed || o->rank != RANK_NAMESPACE)
            continue;
        SW_AUTO_JSON *doc = s->hidden ? NULL : object_document(e, o);
        SW_AUTO_CHARS *text = lacking(o, doc ? sw_json_get(doc, "metadata") : o->added);
        if (*text)
            (void)act_event(e, true, "NotTakenOver",
                            "Namespace %s is not slipway's, and used as it is: %s of the recipe %s "
                            "not set; " SW_ANN_ADOPT " on the recipe's Namespace has it set",
                            o->key.name, text, strchr(text, ',') ? "are" : "is");
    }
}

void namespace_forget_unlisted(struct sw_engine *e)
{
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));) {
        const struct state *by = o->added ? state_find(e, o->wanted_by) : NULL;
        if (o->added && !(by && by->listed))
            set_added(e, o, NULL);
    }
}

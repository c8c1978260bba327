/* The nodes of a resource, and the run-time values of its templates. */
#include "data/yaml/yaml.h"
#include "operator/controller/private.h"
#include "operator/manifests/node_choice.h"
#include "operator/manifests/sharing.h"

#include <string.h>

bool cluster_is_openshift(const struct sw_controller *c)
{
    return sw_kube_serves(c->kube, "config.openshift.io");
}

struct json_object *resource_node_tolerations(const struct resource *r)
{
    return sw_sharing_node_tolerations(r->doc, r->own->recipe_tolerations);
}

bool resource_selects(struct resource *r, const char *node)
{
    SW_AUTO_JSON *tolerations = resource_node_tolerations(r);
    struct sw_node_choice choice = { r->c->nodes, r->doc, tolerations };
    return sw_node_is_chosen(node, &choice);
}

bool cluster_selects_any(struct resource *r)
{
    const struct sw_node_set *nodes = r->c->nodes;
    SW_AUTO_JSON *tolerations = resource_node_tolerations(r);
    struct sw_node_choice choice = { nodes, r->doc, tolerations };
    const char *name = sw_node_set_name(nodes, r->own->some_node);
    if (name && sw_node_is_chosen(name, &choice))
        return true;
    for (uint32_t i = 0; i < sw_node_set_end(nodes); i++) {
        name = sw_node_set_name(nodes, i);
        if (!name || !sw_node_is_chosen(name, &choice))
            continue;
        r->own->some_node = i;
        return true;
    }
    return false;
}

void resource_groups(struct resource *r, struct sw_groups *out)
{
    SW_AUTO_JSON *tolerations = resource_node_tolerations(r);
    struct sw_node_choice choice = { r->c->nodes, r->doc, tolerations };
    sw_facts_groups(r->c->facts, sw_node_is_chosen, &choice, out);
}

/* The resource as templates see it: without fields that change while it is walked. */
static struct json_object *resource_value(struct resource *r)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, sw_obj_api_version(r->doc), "apiVersion", NULL);
    sw_json_set_str(doc, sw_obj_kind(r->doc), "kind", NULL);
    static const char *const kept[] = { "name", "uid", "labels", "annotations",
                                        "creationTimestamp" };
    for (size_t i = 0; i < SW_COUNT(kept); i++) {
        struct json_object *value = sw_json_find(r->doc, "metadata", kept[i], NULL);
        if (value)
            sw_json_set(doc, json_object_get(value), "metadata", kept[i], NULL);
    }
    struct json_object *spec = sw_json_get(r->doc, "spec");
    bool has_namespace = *sw_json_str(spec, "", "namespace", NULL);
    sw_json_set(doc, has_namespace ? json_object_get(spec) : sw_json_copy(spec), "spec", NULL);
    if (!has_namespace)
        sw_json_set_str(doc, resource_namespace(r), "spec", "namespace", NULL);
    return doc;
}

struct json_object *resource_values(struct resource *r, const struct sw_group *group)
{
    struct sw_groups groups;
    resource_groups(r, &groups);
    SW_AUTO_JSON *resource = resource_value(r);
    struct sw_facts_ask ask = {
        .groups = &groups, .group = group, .resource = resource, .status = r->status
    };
    resource_ask_values(r, &ask);
    struct json_object *values = sw_facts_values(r->c->facts, &ask);
    sw_groups_done(&groups);
    EACH_CAPABILITY(add_values, r, values);
    return values;
}

/* Texts of templates that pass all values on. */
static const char *const whole_values[] = { ".Values }", ".Values)", ".Values |", ".Values -",
                                            NULL };
static const char *const lookups[] = { LOOKUP_WORD, INCLUDE_WORD, NULL };

const char **template_texts(void)
{
    const char **words = NULL;
    size_t n = 0, cap = 0;
    const char *const *lists[N_CAPABILITIES + 2] = { whole_values, lookups };
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        lists[i + 2] = capabilities[i]->words;
    for (size_t i = 0; i < SW_COUNT(lists); i++)
        for (const char *const *w = lists[i]; w && *w; w++) {
            SW_GROW(words, n, cap);
            words[n++] = *w;
        }
    for (size_t i = 0; sw_facts_sources[i].kind; i++)
        for (const char *const *w = sw_facts_sources[i].values; *w; w++) {
            SW_GROW(words, n, cap);
            words[n++] = *w;
        }
    SW_GROW(words, n, cap);
    words[n] = NULL;
    return words;
}

static bool mentions(const struct resource *r, const char *const *words)
{
    const char *spec = resolve_is_needed(r->seen)
                           ? json_object_to_json_string(sw_json_get(r->seen, "spec"))
                           : "";
    for (; *words; words++)
        if (strstr(spec, *words) || (r->recipe && sw_recipe_view_mentions(r->recipe, *words)))
            return true;
    return false;
}

struct json_object *resource_recipe_annotation(const struct resource *r, const char *key)
{
    struct json_object *doc = NULL;
    const char *text = r->recipe ? sw_json_str(r->recipe->metadata, NULL, "annotations", key, NULL)
                                 : NULL;
    if (text && sw_yaml_parse(text, strlen(text), NULL, &doc, NULL) < 0)
        return NULL;
    return doc;
}

bool resource_mentions(const struct resource *r, const char *const *words)
{
    return mentions(r, whole_values) || mentions(r, words);
}

bool state_has_lookups(const struct resource *r, size_t state)
{
    return sw_plan_view_mentions(r->plan, state, LOOKUP_WORD) ||
           (r->recipe && sw_plan_view_mentions(r->plan, state, INCLUDE_WORD) &&
            sw_recipe_view_mentions(r->recipe, LOOKUP_WORD));
}

/* r->seen with @set in its spec; the caller's. */
static struct json_object *with_set(const struct resource *r, struct json_object *set)
{
    struct json_object *doc = json_object_new_object(), *spec = json_object_new_object();
    json_object_object_foreach(r->seen, key, value)
    {
        (void)json_object_object_add(doc, key, json_object_get(value));
    }
    json_object_object_foreach(sw_json_get(r->seen, "spec"), field, content)
    {
        (void)json_object_object_add(spec, field, json_object_get(content));
    }
    (void)json_object_object_add(spec, "set", json_object_get(set));
    (void)json_object_object_add(doc, "spec", spec);
    return doc;
}

int resource_resolve(struct resource *r, struct sw_render_wait *wait, struct sw_err *err)
{
    struct json_object *resolved = NULL;
    int rc = 0;
    if (resolve_is_needed(r->seen)) {
        SW_AUTO_JSON *values = resource_values(r, NULL);
        rc = resolve_spec(r, wait, values, &resolved, err);
    }
    if (rc == SW_PENDING && r->doc)
        return rc;
    struct json_object *set = resolved ? NULL : capabilities_default_set(r);
    if (set && sw_json_get(r->seen, "spec"))
        resolved = with_set(r, set);
    json_object_put(r->doc);
    r->doc = resolved ? resolved : json_object_get(r->seen);
    return rc;
}

#include "cli/recipe/rights.h"

#include <json-c/json.h>

#include "data/data.h"
#include "operator/facts/facts.h"

/* A sw_recipe_lookup_fn that finds nothing, and adds the lookup to the list @arg. Lookups that a
 * template does only after it has found something are missing there. */
static int note_lookup(void *arg, const char *api_version, const char *kind, const char *namespace,
                       const char *name, struct json_object **out, struct sw_err *err SW_UNUSED)
{
    struct json_object *list = arg, *l = json_object_new_object();
    sw_json_set_str(l, api_version, "apiVersion", NULL);
    sw_json_set_str(l, kind, "kind", NULL);
    sw_json_set_str(l, namespace ? namespace : "", "namespace", NULL);
    sw_json_set_str(l, name ? name : "", "name", NULL);
    (void)json_object_array_add(list, l);
    *out = NULL;
    return 0;
}

/* What the recipe's own @resource says (NULL: there is none) where no option says otherwise; texts
 * are allocated in @arena. */
static void take_from_resource(struct sw_rbac_opts *r, struct json_object *resource,
                               struct sw_arena *arena)
{
    struct json_object *spec = sw_json_get(resource, "spec");
    if (!r->service_account && !r->user && !r->legacy)
        r->service_account = sw_json_str(spec, NULL, "serviceAccountName", NULL);
    r->upgrades = r->upgrades || sw_json_get(spec, "upgradePolicy");
    r->priority_classes = r->priority_classes || sw_json_get(spec, "priorityClasses");
    struct json_object *login = sw_json_find(spec, "chart", "repository", "secretRef", NULL);
    const char *ns = sw_json_str(login, "", "namespace", NULL),
               *name = sw_json_str(login, "", "name", NULL);
    if (!r->login && *name)
        r->login = sw_arena_printf(arena, "%s%s%s", ns, *ns ? "/" : "", name);
}

int sw_recipe_rights(struct sw_rbac_opts *o, struct sw_opened_recipe *recipe,
                     struct json_object **out, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *rendered = NULL;
    SW_AUTO_JSON *lookups = json_object_new_array();
    take_from_resource(o, recipe->resource, recipe->arena);
    o->secrets = sw_recipe_mentions(recipe->recipe, "pushSecretName");
    o->feature_gates = sw_recipe_mentions(recipe->recipe, SW_FACT_FEATURE_GATES);
    o->lookups = lookups;
    o->plan = recipe->plan;
    recipe->env.namespace = o->ns;
    recipe->env.lookup = note_lookup;
    recipe->env.lookup_arg = lookups;
    const int rc = sw_recipe_render(recipe->plan, &recipe->env, SW_ALL_STATES, &rendered, err);
    if (rc == 0)
        *out = sw_rbac_of(rendered, o);
    o->lookups = NULL;
    return rc;
}

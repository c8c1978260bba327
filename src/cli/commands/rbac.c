/* slipway rbac: the rights that a recipe needs, as manifests. */
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "cli/commands/commands.h"
#include "cli/recipe/rights.h"
#include "data/data.h"

struct rbac_opts {
    struct sw_recipe_flags recipe;
    struct sw_rbac_opts rights;
    const char *module; /* file */
};

#define FIELD(name) offsetof(struct rbac_opts, rights.name)

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS_IN(offsetof(struct rbac_opts, recipe),
                       "that of the recipe's own resource, else its name"),
    SW_MIRROR_FLAG(offsetof(struct rbac_opts, recipe.source)),
    { "operator-namespace", 0, SW_FLAG_STRING, FIELD(operator_ns), "NAME", NULL,
      "namespace of the operator (default $OPERATOR_NAMESPACE, else slipway)" },
    { "operator-account", 0, SW_FLAG_STRING, FIELD(account), "NAME", NULL,
      "service account of the operator (default slipway)" },
    { "service-account", 0, SW_FLAG_STRING, FIELD(service_account), "[NS/]NAME", NULL,
      "the account that gets the rights: the resource's spec.serviceAccountName, or that of the "
      "resource which it is a dependency of (default: slipway-<resource>)" },
    { "legacy-rights", 0, SW_FLAG_BOOL, FIELD(legacy), NULL, NULL,
      "grant the rights to the operator itself, for a controller with --legacy-rights" },
    { "user", 0, SW_FLAG_STRING, FIELD(user), "NAME", NULL,
      "grant the rights to that user, for 'slipway run' as them, with those that every walk needs "
      "(nodes' labels, SpecialResources); slipway's CustomResourceDefinitions must be there" },
    { "upgrade-policy", 0, SW_FLAG_BOOL, FIELD(upgrades), NULL, NULL,
      "add the rights for spec.upgradePolicy of the resource: to delete and evict pods" },
    { "priority-classes", 0, SW_FLAG_BOOL, FIELD(priority_classes), NULL, NULL,
      "add the rights for spec.priorityClasses of the resource" },
    { "config-map", 0, SW_FLAG_STRING, FIELD(config_map), "NS/NAME", NULL,
      "the recipe is in that ConfigMap (cm://NS/NAME), outside the operator's namespace: add the "
      "rights to read it" },
    { "module", 0, SW_FLAG_STRING, offsetof(struct rbac_opts, module), "FILE", NULL,
      "the rights of the SpecialResourceModule in FILE, whose recipe this is" },
    { "secret-ref", 0, SW_FLAG_STRING, FIELD(login), "[NS/]NAME", NULL,
      "add the right to read the Secret of spec.chart.repository.secretRef (without NS: in the "
      "operator's namespace)" },
    { "cluster-wide", 0, SW_FLAG_BOOL, FIELD(cluster_wide), NULL, NULL,
      "grant the rights in all namespaces, and to create the recipe's" },
    { "escalate", 0, SW_FLAG_BOOL, FIELD(escalate), NULL, NULL,
      "grant the verbs bind and escalate on the recipe's roles instead of the rights in them" },
    { 0 },
};

/* Read the module's file: it says whose the rights are. */
static int read_module(struct rbac_opts *o, struct json_object **out, struct sw_err *err)
{
    enum { MAX_BYTES = 1 << 20 };
    struct sw_rbac_opts *r = &o->rights;
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(o->module, MAX_BYTES, &text, &len, err);
    if (rc == 0)
        rc = sw_yaml_parse(text, len, NULL, out, err);
    if (rc == 0 && !sw_streq(sw_obj_kind(*out), "SpecialResourceModule"))
        rc = sw_err_set(err, SW_INVALID, "kind: expected SpecialResourceModule, found '%s'",
                        sw_obj_kind(*out));
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", o->module);
    const char *url = sw_json_str(*out, "", "spec", "chart", "repository", "url", NULL);
    const char *ns = sw_json_str(*out, "", "spec", "namespace", NULL);
    r->module = *out;
    r->name = sw_obj_name(*out);
    r->ns = *ns ? ns : r->name;
    if (!r->service_account)
        r->service_account = sw_json_str(*out, NULL, "spec", "serviceAccountName", NULL);
    if (!r->config_map && sw_starts_with(url, "cm://"))
        r->config_map = url + strlen("cm://");
    return 0;
}

static int print_rights(void *opts, struct sw_opened_recipe *recipe, struct sw_err *err)
{
    struct rbac_opts *o = opts;
    struct sw_rbac_opts *r = &o->rights;
    const char *slash = r->service_account ? strchr(r->service_account, '/') : NULL;
    SW_AUTO_CHARS *account_ns =
        slash ? sw_strndup(r->service_account, (size_t)(slash - r->service_account)) : NULL;
    SW_AUTO_JSON *module = NULL;
    struct json_object *rights = NULL;
    r->name = recipe->env.release ? recipe->env.release : sw_recipe_name(recipe->recipe);
    r->ns = recipe->env.namespace ? recipe->env.namespace : r->name;
    r->operator_ns = r->operator_ns ? r->operator_ns : sw_cli_operator_namespace();
    r->account = r->account ? r->account : "slipway";
    int rc = o->module ? read_module(o, &module, err) : 0;
    if (rc < 0)
        return rc;
    if (r->config_map && !strchr(r->config_map, '/'))
        return sw_err_set(err, SW_INVALID, "--config-map: '%s' is not NAMESPACE/NAME",
                          r->config_map);
    if (r->config_map && sw_starts_with(r->config_map, r->operator_ns) &&
        r->config_map[strlen(r->operator_ns)] == '/')
        r->config_map = NULL; /* the operator reads its own */
    if (slash) {
        r->account_ns = account_ns;
        r->service_account = slash + 1;
    }
    if (r->user && !*r->user)
        return sw_err_set(err, SW_INVALID, "--user: a user's name is not empty");
    if (r->user && (r->service_account || r->legacy))
        return sw_err_set(err, SW_INVALID,
                          "--user, --service-account and --legacy-rights: one of "
                          "them");
    if (r->service_account && r->legacy)
        return sw_err_set(err, SW_INVALID, "--service-account and --legacy-rights: one of them");
    rc = sw_recipe_rights(r, recipe, &rights, err);
    if (rc < 0)
        return rc;
    SW_AUTO_JSON *list = rights;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        size_t len;
        SW_AUTO_CHARS *text = sw_yaml_text(sw_json_at(list, i), &len);
        sw_output_as_it_is(true);
        (void)printf("---\n%.*s", (int)len, text);
    }
    return SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct rbac_opts o = { .recipe = { .sample = true, .own_resource = true } };
    return sw_recipe_execute(call, &o, &o.recipe, 1, print_rights);
}

const struct sw_command sw_command_rbac = {
    .name = "rbac",
    .args = "RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "print the rights that a recipe needs",
    .details =
        "Prints the account that the recipe is walked as, roles and bindings for the objects "
        "of the recipe, and\n"
        "for the rights in the recipe's roles: Kubernetes lets an account grant only rights "
        "that it has itself.\n"
        "The operator gets the rights to impersonate the account and to watch the objects.\n"
        "A cluster administrator applies them: slipway rbac RECIPE | kubectl apply -f -",
    .flags = flags,
    .execute = execute,
};

#include "cli/recipe/kmm.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recipe/kmm_check.h"
#include "data/data.h"
#include "operator/engine/nodes/node_set.h"

#define GROUP_VERSION "kmm.sigs.x-k8s.io/v1beta1"

/* ---- the recipe --------------------------------------------------------------------------------
 */

/* What follows this line in the values of states/kmm-module is no field of a Module. */
#define REST "# ---- "

static const char *other_values(void)
{
    const struct sw_embedded *f = sw_kmm_module;
    while (f->name && !sw_streq(f->name, "values.yaml"))
        f++;
    const char *rest = f->name ? strstr(f->text, "\n" REST) : NULL;
    return rest ? rest + 1 : "";
}

static char *values_of(const struct sw_kmm_recipe *recipe, struct json_object *spec)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    size_t len;
    sw_json_set_str(doc, recipe->name, "name", NULL);
    sw_json_set_str(doc, recipe->ns, "namespace", NULL);
    sw_json_set(doc, json_object_get(spec), "module", NULL);
    SW_AUTO_CHARS *text = sw_yaml_text(doc, &len);
    return sw_printf("# The Module: its name and namespace, and its spec.\n%s%s", text,
                     other_values());
}

/* KMM's own labels of nodes, by which others find them. */
static char *annotations_of(const struct sw_kmm_recipe *recipe, struct json_object *spec)
{
    static const struct {
        const char *field, *state, *suffix;
    } rows[] = { { "moduleLoader", "1000", "ready" },
                 { "devicePlugin", "2000", "device-plugin-ready" },
                 { "dra", "2000", "dra-ready" } };
    char *text = sw_strdup("  slipway.dev/wait: all\n  slipway.dev/ready-labels: >-\n");
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_json_get(spec, rows[i].field))
            sw_append(&text, "    %s=" SW_READY_LABEL "%s.%s.%s\n", rows[i].state, recipe->ns,
                      recipe->name, rows[i].suffix);
    return text;
}

void sw_kmm_recipe_done(struct sw_kmm_recipe *recipe)
{
    free(recipe->name);
    free(recipe->ns);
    free(recipe->annotations);
    free(recipe->values);
    json_object_put(recipe->needs);
    json_object_put(recipe->notes);
    *recipe = (struct sw_kmm_recipe){ 0 };
}

/* The one Module among @docs, borrowed. */
static int find_module(const char *file, const struct sw_yaml_docs *docs, struct json_object **out,
                       struct sw_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < docs->n_docs; i++) {
        struct json_object *doc = docs->docs[i].object, *items = sw_json_get(doc, "items");
        size_t n_items = items ? sw_json_len(items) : 1;
        for (size_t k = 0; k < n_items; k++) {
            struct json_object *one = items ? sw_json_at(items, k) : doc;
            if (sw_streq(sw_obj_kind(one), "ManagedClusterModule"))
                return sw_err_set(err, SW_INVALID,
                                  "%s:%d: ManagedClusterModule '%s': spec.selector, "
                                  "spec.spokeNamespace: a recipe is walked on one cluster; make "
                                  "one of spec.moduleSpec as a Module, and walk it on each spoke",
                                  file, docs->docs[i].line, sw_obj_name(one));
            if (!sw_streq(sw_obj_kind(one), "Module"))
                continue;
            if (!sw_streq(sw_json_str(one, "", "apiVersion", NULL), GROUP_VERSION))
                return sw_err_set(err, SW_INVALID, "%s:%d: Module of '%s': expected " GROUP_VERSION,
                                  file, docs->docs[i].line,
                                  sw_json_str(one, "", "apiVersion", NULL));
            *out = one;
            n++;
        }
    }
    if (n == 1)
        return 0;
    return sw_err_set(err, SW_INVALID, "%s: expected one Module of " GROUP_VERSION ", found %zu",
                      file, n);
}

int sw_kmm_read(const char *file, const char *text, size_t len, const char *ns,
                struct sw_kmm_recipe *out, struct sw_err *err)
{
    struct sw_yaml_docs docs = { 0 };
    struct json_object *module = NULL;
    *out = (struct sw_kmm_recipe){ 0 };
    int rc = sw_yaml_parse_all(text, len, &(struct sw_yaml_opts){ .file = file }, &docs, err);
    if (rc == 0)
        rc = find_module(file, &docs, &module, err);
    if (rc == 0) {
        const char *own_ns = sw_json_str(module, ns ? ns : "default", "metadata", "namespace",
                                         NULL);
        *out = (struct sw_kmm_recipe){ .name = sw_strdup(
                                           sw_json_str(module, "", "metadata", "name", NULL)),
                                       .ns = sw_strdup(own_ns),
                                       .needs = json_object_new_array(),
                                       .notes = json_object_new_array() };
        const struct kmm_reader r = { file, out->name, sw_json_get(module, "spec"), out, err };
        rc = ns && !sw_streq(ns, own_ns)
                 ? sw_err_set(err, SW_INVALID, "%s: Module '%s' is in namespace '%s', not in '%s'",
                              file, out->name, own_ns, ns)
                 : kmm_check(&r);
        if (rc == 0) {
            out->annotations = annotations_of(out, r.spec);
            out->values = values_of(out, r.spec);
        }
    }
    sw_yaml_docs_done(&docs);
    if (rc < 0)
        sw_kmm_recipe_done(out);
    return rc;
}

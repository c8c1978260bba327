/* lint of manifests that are not rendered: SpecialResources and others in the same file. */
#include <string.h>

#include <json-c/json.h>

#include "cli/lint/fields.h"
#include "cli/lint/lint.h"
#include "cli/lint/own_kinds.h"
#include "data/data.h"
#include "data/yaml/yaml.h"
#include "operator/manifests/overlap.h"

/* A file of manifests. */
struct text {
    const char *name, *bytes; /* of the file */
    size_t len;
    const struct sw_yaml_docs *docs;
    size_t at;          /* the current document */
    const char *within; /* the manifest's path there: "", or "items[0]." of a List */
    bool base;          /* a base of `slipway run`, which adds chart and namespace */
    struct sw_problems *problems;
};

static void on_field(void *arg, const char *path, const char *text)
{
    const struct text *t = arg;
    int first_line = t->docs->docs[t->at].line;
    const char *start = t->bytes, *end = t->bytes + t->len;
    for (int line = 1; line < first_line && start < end; line++) {
        const char *next = memchr(start, '\n', (size_t)(end - start));
        start = next ? next + 1 : end;
    }
    SW_AUTO_CHARS *whole = sw_printf("%s%s", t->within, path);
    int line = sw_yaml_line(start, (size_t)(end - start), first_line, whole);
    sw_problems_add(t->problems, true, t->name, line, "%s", text);
}

/* A sw_overlap_find_fn among the resources of the file; @arg: a struct text. */
static struct json_object *find_resource(const char *name, void *arg)
{
    const struct text *t = arg;
    for (size_t i = 0; i < t->docs->n_docs; i++) {
        struct json_object *doc = t->docs->docs[i].object;
        if (sw_streq(sw_obj_kind(doc), "SpecialResource") && sw_streq(sw_obj_name(doc), name))
            return doc;
    }
    return NULL;
}

static void check_object(struct text *t, struct json_object *doc, const struct sw_own_kinds *own,
                         const struct sw_fields *fields)
{
    if (!json_object_is_type(doc, json_type_object) || !*sw_obj_kind(doc) ||
        !*sw_obj_api_version(doc)) {
        on_field(t, "apiVersion", "no manifest: apiVersion or kind lacks");
        return;
    }
    /* files of Kustomize are no objects */
    if (!t->base && !*sw_obj_name(doc) && !sw_json_find(doc, "metadata", "generateName", NULL) &&
        !sw_starts_with(sw_obj_api_version(doc), "kustomize.config.k8s.io/")) {
        SW_AUTO_CHARS *text = sw_printf("%s without metadata.name", sw_obj_kind(doc));
        on_field(t, "apiVersion", text);
    }
    sw_fields_check(fields, doc, on_field, t);
    sw_own_kinds_check(own, doc, !t->base, on_field, t);
}

/* Check the current document. */
static void check_doc(struct text *t, const struct sw_own_kinds *own,
                      const struct sw_fields *fields)
{
    struct json_object *doc = t->docs->docs[t->at].object, *items = sw_json_get(doc, "items");
    if (sw_ends_with(sw_obj_kind(doc), "List") && json_object_is_type(items, json_type_array)) {
        for (size_t i = 0; i < sw_json_len(items); i++) {
            SW_AUTO_CHARS *within = sw_printf("items[%zu].", i);
            t->within = within;
            check_object(t, sw_json_at(items, i), own, fields);
        }
        t->within = "";
        return;
    }
    check_object(t, doc, own, fields);
    for (size_t i = 0; sw_streq(sw_obj_kind(doc), "SpecialResource") && i < t->at; i++) {
        struct json_object *other = t->docs->docs[i].object;
        if (sw_streq(sw_obj_kind(other), "SpecialResource") &&
            sw_overlap_is_certain(doc, other, find_resource, t))
            sw_problems_add(t->problems, false, t->name, t->docs->docs[t->at].line,
                            "%s selects the same nodes as %s (line %d)", sw_obj_name(doc),
                            sw_obj_name(other), t->docs->docs[i].line);
    }
}

static void lint_text(const char *name, const char *bytes, size_t len, bool base,
                      struct sw_problems *problems)
{
    SW_AUTO(sw_fields) *fields = sw_fields_new();
    SW_AUTO(sw_own_kinds) *own = sw_own_kinds_new();
    struct sw_yaml_docs docs = { 0 };
    struct text t = { name, bytes, len, &docs, 0, "", base, problems };
    SW_ERR(err);
    if (sw_yaml_parse_all(bytes, len, &(struct sw_yaml_opts){ 0 }, &docs, &err) < 0) {
        sw_problems_add_yaml(problems, name, 0, sw_err_text(&err));
        return;
    }
    for (t.at = 0; t.at < docs.n_docs; t.at++)
        check_doc(&t, own, fields);
    if (docs.n_docs == 0)
        sw_problems_add(problems, true, name, 0, "there is no manifest in it");
    sw_yaml_docs_done(&docs);
}

void sw_lint_manifests(const char *name, const char *bytes, size_t len,
                       struct sw_problems *problems)
{
    lint_text(name, bytes, len, false, problems);
}

void sw_lint_base(const struct sw_recipe *recipe, struct sw_problems *problems)
{
    SW_AUTO_CHARS *file = sw_printf("%s.yaml", sw_recipe_name(recipe));
    SW_AUTO_CHARS *path = sw_printf("%s/%s", sw_recipe_name(recipe), file);
    const struct sw_recipe_file *text = sw_recipe_find_file(recipe, file);
    if (text)
        lint_text(path, text->bytes, text->len, true, problems);
}

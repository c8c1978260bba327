/* lint of manifests that are written by hand: SpecialResources and what stands beside them. */
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/lint/fields.h"
#include "cli/lint/lint.h"
#include "cli/lint/own_kinds.h"
#include "data/data.h"
#include "data/yaml/yaml.h"
#include "operator/manifests/overlap.h"

struct text {
    const char *name, *bytes; /* of the file */
    size_t len;
    const struct sw_yaml_docs *docs;
    size_t at;          /* the document that is looked at, */
    const char *within; /* and where in it: "" or the element of a List, "items[0]." */
    bool base;          /* `slipway run` adds chart and namespace */
    struct sw_problems *problems;
};

/* Where line @line begins, from 1. */
static const char *line_start(const struct text *t, int line)
{
    const char *at = t->bytes, *end = t->bytes + t->len;
    for (; line > 1 && at < end; line--) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    return at;
}

static void on_field(void *arg, const char *path, const char *words)
{
    const struct text *t = arg;
    int line = t->docs->docs[t->at].line;
    const char *start = line_start(t, line);
    SW_AUTO_CHARS *whole = sw_printf("%s%s", t->within, path);
    int at = sw_field_line(start, (size_t)(t->bytes + t->len - start), line, whole);
    sw_problems_add(t->problems, true, t->name, at, "%s", words);
}

static void report_failure(const struct text *t, const char *words)
{
    int line = 0, length = 0; /* "line:column: reason" */
    if (sscanf(words, "%d:%*d: %n", &line, &length) != 1 || length == 0)
        line = length = 0;
    sw_problems_add(t->problems, true, t->name, line, "%s", words + length);
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

/* The resources before it in the file that take the same nodes. */
static void check_overlap(struct text *t)
{
    struct json_object *doc = t->docs->docs[t->at].object;
    for (size_t i = 0; i < t->at; i++) {
        struct json_object *other = t->docs->docs[i].object;
        if (sw_streq(sw_obj_kind(doc), "SpecialResource") &&
            sw_streq(sw_obj_kind(other), "SpecialResource") &&
            sw_overlap_is_certain(doc, other, find_resource, t))
            sw_problems_add(t->problems, false, t->name, t->docs->docs[t->at].line,
                            "%s selects the same nodes as %s (line %d)", sw_obj_name(doc),
                            sw_obj_name(other), t->docs->docs[i].line);
    }
}

/* Whoever makes it needs no name: kubectl create, or Kustomize, whose files are no objects. */
static bool needs_name(struct json_object *doc)
{
    return !sw_json_find(doc, "metadata", "generateName", NULL) &&
           !sw_starts_with(sw_obj_api_version(doc), "kustomize.config.k8s.io/");
}

static void check_object(struct text *t, struct json_object *doc, const struct sw_own_kinds *own,
                         const struct sw_fields *fields)
{
    if (!json_object_is_type(doc, json_type_object) || !*sw_obj_kind(doc) ||
        !*sw_obj_api_version(doc)) {
        on_field(t, "apiVersion", "no manifest: apiVersion or kind lacks");
        return;
    }
    if (!t->base && !*sw_obj_name(doc) && needs_name(doc)) {
        SW_AUTO_CHARS *words = sw_printf("%s without metadata.name", sw_obj_kind(doc));
        on_field(t, "apiVersion", words);
    }
    sw_fields_check(fields, doc, on_field, t);
    sw_own_kinds_check(own, doc, !t->base, on_field, t);
}

static void check_doc(struct text *t, const struct sw_own_kinds *own,
                      const struct sw_fields *fields)
{
    struct json_object *doc = t->docs->docs[t->at].object, *items = sw_json_get(doc, "items");
    if (!sw_ends_with(sw_obj_kind(doc), "List") || !json_object_is_type(items, json_type_array)) {
        check_object(t, doc, own, fields);
        check_overlap(t);
        return;
    }
    for (size_t i = 0; i < sw_json_len(items); i++) {
        SW_AUTO_CHARS *within = sw_printf("items[%zu].", i);
        t->within = within;
        check_object(t, sw_json_at(items, i), own, fields);
    }
    t->within = "";
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
        report_failure(&t, sw_err_text(&err));
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

#include "cli/lint/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/render/hook.h"
#include "cli/lint/fields.h"
#include "cli/lint/own_kinds.h"
#include "data/data.h"
#include "data/go/regex.h"
#include "data/text/nearest.h"
#include "operator/engine/readiness/gate.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/manifests/hooks.h"

void sw_problems_done(struct sw_problems *problems)
{
    for (size_t i = 0; i < problems->n; i++) {
        free(problems->items[i].path);
        free(problems->items[i].text);
    }
    free(problems->items);
    *problems = (struct sw_problems){ 0 };
}

void sw_problems_add(struct sw_problems *problems, bool is_error, const char *path, int line,
                     const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = sw_vprintf(fmt, ap);
    va_end(ap);
    SW_GROW(problems->items, problems->n, problems->cap);
    problems->items[problems->n++] = (struct sw_problem){
        .is_error = is_error, .path = sw_strdup(path ? path : ""), .line = line, .text = text
    };
}

struct lint {
    const struct sw_plan *plan;
    const struct sw_rendered *rendered;
    const char *resource;
    struct sw_fields *fields;
    struct sw_own_kinds *own;
    const struct sw_rendered_doc *doc; /* of the manifest */
    const char *within;                /* the manifest's path there: "", or "items[0]" of a List */
    struct sw_problems *problems;
};

#define ERROR(l, m, ...) sw_problems_add((l)->problems, true, (m)->path, (m)->line, __VA_ARGS__)
#define WARNING(l, m, ...) sw_problems_add((l)->problems, false, (m)->path, (m)->line, __VA_ARGS__)
/* The same with the line of a field. */
#define ERROR_AT(l, m, field, ...)                                                                 \
    sw_problems_add((l)->problems, true, (m)->path, line_of(l, field), __VA_ARGS__)
#define WARNING_AT(l, m, field, ...)                                                               \
    sw_problems_add((l)->problems, false, (m)->path, line_of(l, field), __VA_ARGS__)

static int line_of(const struct lint *l, const char *field)
{
    const struct sw_rendered_doc *d = l->doc;
    SW_AUTO_CHARS *path = sw_printf("%s%s%s", l->within, *l->within ? "." : "", field);
    return sw_yaml_line(d->text, d->len, d->line, path);
}

/* Where the problems are that others find. */
struct place {
    const struct lint *l;
    const struct sw_manifest *m;
};

static char *annotation_path(const char *key)
{
    return sw_printf("metadata.annotations.%s", key);
}

/* ---- one manifest -------------------------------------------------------------------------------
 */

static bool is_of_charts(const char *key)
{
    const char *const *name = sw_chart_annotation_names();
    while (*name && !sw_streq(*name, key))
        name++;
    return *name != NULL;
}

/* The annotation of manifests that @key may be meant for, by what stands behind the slash where no
 * whole name is near; borrowed, NULL: none. */
static const char *meant_annotation(const char *key)
{
    const char *const *all = sw_hook_annotations();
    const char *meant = sw_text_nearest(key, all), *behind[128] = { NULL };
    size_t n = 0;
    for (const char *const *a = all; *a && n + 1 < SW_COUNT(behind); a++)
        behind[n++] = strchr(*a, '/') + 1;
    const char *near = meant ? NULL : sw_text_nearest(strchr(key, '/') + 1, behind);
    for (const char *const *a = all; near && *a && !meant; a++)
        if (sw_streq(strchr(*a, '/') + 1, near))
            meant = *a;
    return meant;
}

static void check_annotations(const struct lint *l, const struct sw_manifest *m)
{
    struct json_object *map = sw_json_find(m->doc, "metadata", "annotations", NULL);
    if (!json_object_is_type(map, json_type_object))
        return;
    json_object_object_foreach(map, key, value)
    {
        (void)value;
        /* the operator and SRO set the hash: it is in manifests that were copied from a cluster */
        if ((!sw_starts_with(key, "slipway.dev/") && !sw_starts_with(key, SW_SRO_PREFIX)) ||
            sw_streq(key, SW_SRO_PREFIX "hash"))
            continue;
        if (sw_hook_find(key))
            continue;
        SW_AUTO_CHARS *at = annotation_path(key);
        const char *meant = meant_annotation(key);
        if (is_of_charts(key))
            ERROR_AT(l, m, at, "annotation '%s' is one of charts: it stands in Chart.yaml", key);
        else if (meant)
            ERROR_AT(l, m, at, "annotation '%s' is not known; is it '%s'?", key, meant);
        else
            ERROR_AT(l, m, at, "annotation '%s' is not known; 'slipway hooks' lists them", key);
    }
}

static void on_hook_fault(void *arg, const char *key, const char *text)
{
    const struct place *p = arg;
    SW_AUTO_CHARS *at = annotation_path(key);
    /* of Helm 2's crd-install is told what helm lint tells */
    if (!sw_starts_with(sw_obj_annotation(p->m->doc, key), "crd-install"))
        ERROR_AT(p->l, p->m, at, "%s %s: %s", sw_obj_kind(p->m->doc), sw_obj_name(p->m->doc), text);
}

static void check_helm_hook(const struct lint *l, const struct sw_manifest *m)
{
    sw_helm_hook_check(m->doc, on_hook_fault, &(struct place){ l, m });
}

static void check_conditions(const struct lint *l, const struct sw_manifest *m, const char *key)
{
    const char *text = sw_obj_annotation(m->doc, key);
    SW_AUTO_CHARS *at = annotation_path(key);
    SW_AUTO_JSON *list = NULL;
    SW_ERR(err);
    if (!text)
        return;
    if (sw_json_parse(text, strlen(text), NULL, &list, &err) < 0 ||
        !json_object_is_type(list, json_type_array)) {
        ERROR_AT(l, m, at, "%s: expected a JSON list of conditions, found %s", key, text);
        return;
    }
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *condition = json_object_get_string(sw_json_at(list, i));
        SW_AUTO(sw_condition) *c = NULL;
        SW_ERR(why);
        if (!condition || sw_condition_compile(condition, &c, &why) < 0)
            ERROR_AT(l, m, at, "%s[%zu]: %s", key, i, sw_err_text(&why));
        else if (sw_starts_with(condition, "{.status."))
            WARNING_AT(l, m, at,
                       "%s[%zu]: conditions are on .status already: {.%s instead of {.status.%s",
                       key, i, condition + strlen("{.status."), condition + strlen("{.status."));
    }
    if (sw_json_len(list) == 0)
        ERROR_AT(l, m, at, "%s: an empty list is never met", key);
}

static void check_readiness(const struct lint *l, const struct sw_manifest *m)
{
    static const char success[] = "helm.sh/readiness-success";
    static const char failure[] = "helm.sh/readiness-failure";
    const char *a = sw_obj_annotation(m->doc, success), *b = sw_obj_annotation(m->doc, failure);
    SW_AUTO_CHARS *at = annotation_path(a ? success : failure);
    if (!a != !b)
        ERROR_AT(l, m, at, "%s without %s: both are needed", a ? success : failure,
                 a ? failure : success);
    check_conditions(l, m, success);
    check_conditions(l, m, failure);
}

/* Gates that can never be met. */
static void check_gate(const struct lint *l, const struct sw_manifest *m)
{
    const char *kind = sw_obj_kind(m->doc);
    bool awaited = sw_hook_asked(m->doc, SW_SRO_PREFIX "wait") ||
                   sw_plan_state(l->plan, m->state)->wait_all;
    const char *restart = sw_json_str(m->doc, "Always", "spec", "restartPolicy", NULL);
    if (awaited && sw_streq(kind, "Pod") && sw_streq(restart, "Always") &&
        !sw_is_observed(m->doc) && !sw_obj_annotation(m->doc, "helm.sh/readiness-success"))
        WARNING_AT(l, m, "spec.restartPolicy",
                   "a Pod is finished when it has succeeded, which restartPolicy: Always "
                   "never lets it");
    const char *logs = sw_obj_annotation(m->doc, SW_SRO_PREFIX "wait-for-logs");
    SW_AUTO(sw_regex) *re = NULL;
    SW_AUTO_CHARS *at = annotation_path(SW_SRO_PREFIX "wait-for-logs");
    SW_ERR(err);
    if (logs && !sw_streq(kind, "DaemonSet"))
        ERROR_AT(l, m, at, "wait-for-logs has no effect on a %s, only on a DaemonSet", kind);
    if (logs && sw_regex_compile(logs, strlen(logs), &re, &err) < 0)
        ERROR_AT(l, m, at, "wait-for-logs: %s", sw_err_text(&err));
}

/* Values of annotations that the engine would refuse; those of conditions and logs are told more
 * exactly. */
static void check_values(const struct lint *l, const struct sw_manifest *m)
{
    static const char *const told[] = { SW_ANN_READY_IF, SW_ANN_FAILED_IF, SW_ANN_WAIT_FOR_LOGS };
    SW_AUTO(sw_gate) *gate = NULL;
    SW_ERR(err);
    if (sw_gate_new(m->doc, sw_plan_state(l->plan, m->state)->wait_all, &gate, &err) == 0)
        return;
    static const char before[] = "annotation ";
    const char *text = sw_err_text(&err), *found = strstr(text, before);
    const char *key = found ? found + strlen(before) : text;
    for (size_t i = 0; i < SW_COUNT(told); i++)
        if (sw_starts_with(key, told[i]))
            return;
    SW_AUTO_CHARS *name = sw_strndup(key, strcspn(key, ":["));
    SW_AUTO_CHARS *at = annotation_path(name);
    ERROR_AT(l, m, at, "%s", found ? found : text);
}

static void check_images(const struct lint *l, const struct sw_manifest *m)
{
    static const char *const lists[] = { "initContainers", "containers" };
    struct json_object *pod = sw_pod_template(m->doc);
    const char *pod_path = pod == m->doc ? "spec"
                           : sw_streq(sw_obj_kind(m->doc), "CronJob")
                               ? "spec.jobTemplate.spec.template.spec"
                               : "spec.template.spec";
    for (size_t k = 0; pod && k < SW_COUNT(lists); k++) {
        struct json_object *containers = sw_json_find(pod, "spec", lists[k], NULL);
        for (size_t i = 0; i < sw_json_len(containers); i++) {
            struct json_object *container = sw_json_at(containers, i);
            const char *image = sw_json_str(container, "", "image", NULL);
            const char *name = sw_json_str(container, "?", "name", NULL);
            const char *slash = strrchr(image, '/'), *tag = strchr(slash ? slash : image, ':');
            SW_AUTO_CHARS *at = sw_printf("%s.%s[%zu].%s", pod_path, lists[k], i,
                                          *image ? "image" : "name");
            if (!*image)
                ERROR_AT(l, m, at, "container '%s' has no image", name);
            else if (!strchr(image, '@') && !tag)
                WARNING_AT(l, m, at, "container '%s': image '%s' has no tag", name, image);
            else if (!strchr(image, '@') && (sw_streq(tag, ":latest") || !tag[1]))
                WARNING_AT(l, m, at, "container '%s': image '%s' changes under its tag", name,
                           image);
        }
    }
}

/* ---- fields -------------------------------------------------------------------------------------
 */

static void on_field(void *arg, const char *path, const char *text)
{
    const struct place *p = arg;
    ERROR_AT(p->l, p->m, path, "%s", text);
}

static void check_fields(const struct lint *l, const struct sw_manifest *m)
{
    sw_fields_check(l->fields, m->doc, on_field, &(struct place){ l, m });
    sw_own_kinds_check(l->own, m->doc, true, on_field, &(struct place){ l, m });
}

/* Is it a statement about an object, whoever applies that? */
static bool is_statement(struct json_object *doc)
{
    return sw_is_observed(doc) && sw_obj_annotation(doc, SW_ANN_ASSERT);
}

/* The same object twice: the second would overwrite the first. */
static void check_duplicate(const struct lint *l, const struct sw_manifest *m)
{
    if (is_statement(m->doc))
        return;
    for (size_t i = 0; i < sw_rendered_n_manifests(l->rendered); i++) {
        const struct sw_manifest *other = sw_rendered_manifest(l->rendered, i);
        if (other == m)
            return;
        if (is_statement(other->doc))
            continue;
        if (*sw_obj_name(m->doc) && sw_streq(sw_obj_name(other->doc), sw_obj_name(m->doc)) &&
            sw_streq(sw_obj_kind(other->doc), sw_obj_kind(m->doc)) &&
            sw_streq(sw_obj_api_version(other->doc), sw_obj_api_version(m->doc)) &&
            sw_streq(sw_obj_namespace(other->doc), sw_obj_namespace(m->doc)) &&
            (*sw_obj_namespace(m->doc) || sw_streq(other->namespace, m->namespace))) {
            ERROR(l, m, "%s %s is in %s:%d too", sw_obj_kind(m->doc), sw_obj_name(m->doc),
                  other->path, other->line);
            return;
        }
    }
}

static void tell_note(const struct lint *l, const struct sw_manifest *m)
{
    const char *note = sw_obj_annotation(m->doc, SW_ANN_NOTE);
    if (!note)
        return;
    WARNING(l, m, "state '%s': %s", sw_plan_state(l->plan, m->state)->name, note);
    l->problems->items[l->problems->n - 1].is_note = true;
}

static void (*const manifest_checks[])(const struct lint *l, const struct sw_manifest *m) = {
    check_annotations, check_helm_hook, check_readiness, check_gate, check_values,
    check_images,      check_fields,    check_duplicate, tell_note,
};

/* ---- documents and states -----------------------------------------------------------------------
 */

void sw_problems_add_yaml(struct sw_problems *problems, const char *path, int line,
                          const char *text)
{
    int at = line, length = 0;
    if (sscanf(text, "%d:%*d: %n", &at, &length) != 1 || length == 0) {
        at = line;
        length = 0;
    }
    sw_problems_add(problems, true, path, at, "%s", text + length);
}

void sw_lint_failure(const char *text, struct sw_problems *problems)
{
    /* "path:12" within the message, or "path/Chart.yaml: " at its beginning */
    for (const char *word = text; *word; word += strspn(word, " (")) {
        size_t len = strcspn(word, " (");
        const char *colon = memchr(word, ':', len), *slash = memchr(word, '/', len);
        const bool file = word == text && colon && sw_starts_with(colon, ": ") &&
                          colon - word > 5 && memcmp(colon - 5, ".yaml", 5) == 0;
        if (colon && slash && slash < colon && ((colon[1] >= '1' && colon[1] <= '9') || file)) {
            SW_AUTO_CHARS *path = sw_strndup(word, (size_t)(colon - word));
            int line = (int)strtol(colon + 1, NULL, 10);
            if (word == text) /* "path:line:column: reason": only the reason is left */
                text = colon + strspn(colon, ":0123456789 ");
            sw_problems_add(problems, true, path, line, "%s", text);
            return;
        }
        word += len;
    }
    sw_problems_add(problems, true, "", 0, "%s", text);
}

bool sw_lint_file(const struct sw_rendered_file *file, struct sw_problems *problems)
{
    const struct sw_yaml_opts opts = { .file = file->path, .allow_duplicate = true };
    struct sw_yaml_docs docs = { 0 };
    SW_ERR(err);
    const bool is_yaml = sw_yaml_parse_all(file->text, file->len, &opts, &docs, &err) == 0;
    if (!is_yaml)
        sw_lint_failure(sw_err_text(&err), problems);
    sw_yaml_docs_done(&docs);
    return !is_yaml;
}

/* Is it asked to wait for @m? */
static bool is_awaited(const struct lint *l, const struct sw_manifest *m)
{
    return sw_plan_state(l->plan, m->state)->wait_all ||
           sw_hook_asked(m->doc, SW_SRO_PREFIX "wait") ||
           sw_obj_annotation(m->doc, "helm.sh/readiness-success") ||
           sw_obj_annotation(m->doc, SW_SRO_PREFIX "wait-for-logs");
}

/* Whether the state waits for any object. */
static bool has_awaited(const struct lint *l, size_t state)
{
    if (sw_plan_state(l->plan, state)->wait_all)
        return true;
    for (size_t i = 0; i < sw_rendered_n_manifests(l->rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(l->rendered, i);
        if (m->state == state && !m->is_left_out &&
            (is_awaited(l, m) || m->hook_events ||
             sw_streq(sw_obj_kind(m->doc), "CustomResourceDefinition")))
            return true;
    }
    return false;
}

/* A recipe with workloads that waits for nothing is Ready whatever becomes of them. */
static void check_waits(struct lint *l)
{
    const struct sw_manifest *workload = NULL;
    for (size_t i = 0; i < sw_rendered_n_docs(l->rendered); i++) {
        const struct sw_rendered_doc *d = sw_rendered_doc(l->rendered, i);
        for (size_t k = 0; k < d->n_manifests; k++) {
            const struct sw_manifest *m = sw_rendered_manifest(l->rendered, d->first_manifest + k);
            const bool counts = !m->is_left_out && !m->hook_events;
            if (counts && is_awaited(l, m))
                return;
            if (counts && !workload && sw_pod_maker_find(sw_obj_kind(m->doc))) {
                workload = m;
                l->doc = d;
            }
        }
    }
    if (workload)
        WARNING_AT(
            l, workload, "kind",
            "%s '%s' is not waited for, nor anything else: the resource is Ready as soon as "
            "all is applied; 'annotations: {slipway.dev/wait: all}' in Chart.yaml has it wait",
            sw_obj_kind(workload->doc), sw_obj_name(workload->doc));
}

static void check_state(const struct lint *l, size_t state, bool is_whole)
{
    const struct sw_recipe_state *s = sw_plan_state(l->plan, state);
    const char *path = s->n_templates ? s->templates[0] : s->chart;
    SW_AUTO_CHARS *label = NULL;
    SW_ERR(err);
    if (s->label && sw_recipe_label(l->resource, s->label, &label, &err) < 0)
        sw_problems_add(l->problems, true, path, 0, "state '%s': %s", s->name, sw_err_text(&err));
    if (label && sw_plan_n_states(l->plan) > 1 && /* a chart that is one state needs no label */
        strlen(label) != strlen(SW_SRO_PREFIX "state--") + strlen(l->resource) + strlen(s->label))
        sw_problems_add(l->problems, false, path, 0,
                        "state '%s': its node label would have more than 63 characters, which "
                        "Kubernetes does not allow: nodes get '%s'",
                        s->name, label);
    bool is_needed = false;
    for (size_t i = 0; i < sw_plan_n_states(l->plan); i++)
        for (size_t k = 0; k < sw_plan_state(l->plan, i)->n_needs; k++)
            is_needed = is_needed || sw_plan_state(l->plan, i)->needs[k] == state;
    if (is_needed && is_whole && !has_awaited(l, state))
        sw_problems_add(l->problems, false, path, 0,
                        "nothing in state '%s' is waited for: what needs it starts at once",
                        s->name);
}

static void check_manifests(struct lint *l, const struct sw_rendered_doc *d)
{
    const struct sw_yaml_opts opts = { .allow_duplicate = true };
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(ignored);
    struct json_object *items = sw_yaml_parse(d->text, d->len, &opts, &doc, &ignored) == 0
                                    ? sw_json_get(doc, "items")
                                    : NULL;
    bool is_list = json_object_is_type(items, json_type_array) &&
                   sw_json_len(items) == d->n_manifests;
    l->doc = d;
    for (size_t i = 0; i < d->n_manifests; i++) {
        const struct sw_manifest *m = sw_rendered_manifest(l->rendered, d->first_manifest + i);
        SW_AUTO_CHARS *within = is_list ? sw_printf("items[%zu]", i) : sw_strdup("");
        l->within = within;
        for (size_t k = 0; k < SW_COUNT(manifest_checks); k++)
            manifest_checks[k](l, m);
    }
    l->within = "";
}

void sw_lint(const struct sw_plan *plan, const struct sw_rendered *rendered, const char *resource,
             bool is_whole, struct sw_problems *problems)
{
    SW_AUTO(sw_fields) *fields = sw_fields_new();
    SW_AUTO(sw_own_kinds) *own = sw_own_kinds_new();
    struct lint l = { plan, rendered, resource, fields, own, NULL, "", problems };
    for (size_t i = 0; i < sw_rendered_n_docs(rendered); i++) { /* rendering allows a key twice */
        const struct sw_rendered_doc *d = sw_rendered_doc(rendered, i);
        const struct sw_yaml_opts opts = { .first_line = d->line };
        SW_AUTO_JSON *doc = NULL;
        SW_ERR(err);
        if (sw_yaml_parse(d->text, d->len, &opts, &doc, &err) < 0)
            sw_problems_add_yaml(problems, d->path, d->line, sw_err_text(&err));
    }
    for (size_t i = 0; i < sw_rendered_n_docs(rendered); i++)
        check_manifests(&l, sw_rendered_doc(rendered, i));
    for (size_t i = 0; i < sw_plan_n_states(plan); i++)
        check_state(&l, i, is_whole);
    if (is_whole)
        check_waits(&l);
}

#include "chart/aicr/recommend.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "chart/aicr/constraints.h"
#include "data/data.h"

/* ---- what is known -----------------------------------------------------------------------------
 */

static void add_once(struct json_object *list, const char *text)
{
    if (text && *text && !sw_json_has_text(list, text))
        (void)json_object_array_add(list, json_object_new_string(text));
}

static const char *gpu_of(struct json_object *facts)
{
    const char *model = sw_json_str(facts, NULL, "GPU.smi.gpu.model", NULL);
    return model ? model : sw_json_str(facts, NULL, "GPU.smi.model", NULL);
}

/* "NVIDIA-H100-80GB-HBM3": "h100". NULL: none that a catalogue knows */
static const char *accelerator_of(const char *model)
{
    static const char *const names[] = { "gb300", "gb200", "b300", "b200", "h200", "gh200",
                                         "h100",  "a100",  "l40",  "l4",   "rtx" };
    for (size_t i = 0; model && i < SW_COUNT(names); i++)
        if (strcasestr(model, names[i]))
            return names[i];
    return NULL;
}

static const char *os_of(const char *id)
{
    static const char *const other[][2] = { { "amzn", "amazonlinux" }, { "rhcos", "rhel" } };
    for (size_t i = 0; i < SW_COUNT(other); i++)
        if (sw_streq(id, other[i][0]))
            return other[i][1];
    return id;
}

static void add_service(struct json_object *facts, struct json_object *to)
{
    static const char *const builds[][2] = { { "-eks-", "eks" },
                                             { "-gke.", "gke" },
                                             { "-aks", "aks" } };
    const char *version = sw_json_str(facts, "", "K8s.server.version", NULL);
    add_once(to, sw_json_str(facts, NULL, "K8s.server.service", NULL));
    add_once(to, sw_json_str(facts, NULL, "K8s.node.provider", NULL));
    for (size_t i = 0; !sw_json_len(to) && i < SW_COUNT(builds); i++)
        if (strstr(version, builds[i][0]))
            add_once(to, builds[i][1]);
}

/* The nodes that count: those with GPUs, or all where none has any. The caller's. */
static struct json_object *nodes_that_count(struct json_object *facts)
{
    struct json_object *nodes = sw_json_get(facts, "nodes"), *out = json_object_new_array();
    bool any = false;
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        any = any || gpu_of(sw_json_get(sw_json_at(nodes, i), "facts"));
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *node = sw_json_at(nodes, i);
        if (!any || gpu_of(sw_json_get(node, "facts")))
            (void)json_object_array_add(out, json_object_get(node));
    }
    return out;
}

struct json_object *sw_aicr_criteria_known(struct json_object *facts)
{
    struct json_object *known = json_object_new_object(),
                       *service = sw_json_need_list(known, "service", NULL),
                       *accelerator = sw_json_need_list(known, "accelerator", NULL),
                       *os = sw_json_need_list(known, "os", NULL);
    SW_AUTO_JSON *nodes = nodes_that_count(facts);
    add_service(sw_json_get(facts, "cluster"), service);
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *of = sw_json_get(sw_json_at(nodes, i), "facts");
        add_service(of, service);
        add_once(accelerator, accelerator_of(gpu_of(of)));
        add_once(os, os_of(sw_json_str(of, NULL, "OS.release.ID", NULL)));
    }
    return known;
}

/* ---- what speaks against a recipe --------------------------------------------------------------
 */

static void add_text(struct json_object *to, const char *list, const char *text)
{
    (void)json_object_array_add(sw_json_need_list(to, list, NULL), json_object_new_string(text));
}

/* Hold what the recipe is for against what the cluster is, and against what is wanted. */
static void judge_criteria(struct json_object *criteria, struct json_object *known,
                           struct json_object *wanted, struct json_object *to)
{
    static const char *const keys[] = { "service", "accelerator", "os", "intent", "platform" };
    for (size_t i = 0; i < SW_COUNT(keys); i++) {
        const char *is_for = sw_json_str(criteria, "any", keys[i], NULL);
        const char *want = sw_json_str(wanted, "any", keys[i], NULL);
        struct json_object *values = sw_json_get(known, keys[i]);
        SW_AUTO_CHARS *has = sw_json_joined(values, ", ");
        SW_AUTO_CHARS *other = sw_printf("it is for %s %s, %s is wanted", keys[i], is_for, want);
        SW_AUTO_CHARS *not_there = sw_printf("it is for %s %s, the cluster has %s", keys[i], is_for,
                                             has);
        SW_AUTO_CHARS *unknown = sw_printf("%s (it is for %s)", keys[i], is_for);
        if (!sw_streq(want, "any") && !sw_streq(is_for, want) && !sw_streq(is_for, "any"))
            add_text(to, "against", other);
        else if (sw_streq(is_for, "any") || !values || sw_streq(is_for, want))
            continue;
        else if (!sw_json_len(values))
            add_text(to, "unknown", unknown);
        else if (!sw_json_has_text(values, is_for))
            add_text(to, "against", not_there);
    }
}

static void judge_constraints(struct json_object *constraints, struct json_object *facts,
                              struct json_object *to)
{
    SW_AUTO_JSON *counted = json_object_new_object();
    (void)json_object_object_add(counted, "cluster",
                                 json_object_get(sw_json_get(facts, "cluster")));
    (void)json_object_object_add(counted, "nodes", nodes_that_count(facts));
    SW_AUTO_JSON *outcomes = sw_aicr_constraints_check(constraints, counted);
    for (size_t i = 0; i < sw_json_len(outcomes); i++) {
        struct json_object *v = sw_json_at(outcomes, i);
        SW_AUTO_CHARS *text = sw_aicr_outcome_text(v);
        if (sw_aicr_outcome_stops(v))
            add_text(to, "against", text);
        else if (!sw_streq(sw_json_str(v, "", "outcome", NULL), "met"))
            add_text(to, "unknown", text);
    }
}

struct json_object *sw_aicr_judge(const char *name, struct json_object *result,
                                  struct json_object *facts, struct json_object *wanted)
{
    struct json_object *out = json_object_new_object(), *criteria = sw_json_get(result, "criteria");
    SW_AUTO_JSON *known = sw_aicr_criteria_known(facts);
    sw_json_set_str(out, name, "name", NULL);
    (void)json_object_object_add(out, "criteria", json_object_get(criteria));
    (void)json_object_object_add(out, "against", json_object_new_array());
    (void)json_object_object_add(out, "unknown", json_object_new_array());
    judge_criteria(criteria, known, wanted, out);
    judge_constraints(sw_json_get(result, "constraints"), facts, out);
    return out;
}

/* How many criteria it states. */
static size_t n_stated(struct json_object *judged)
{
    static const char *const keys[] = { "service", "accelerator", "os", "intent", "platform" };
    size_t n = 0;
    for (size_t i = 0; i < SW_COUNT(keys); i++)
        n += !sw_streq(sw_json_str(judged, "any", "criteria", keys[i], NULL), "any");
    return n;
}

static int compare(const void *a, const void *b)
{
    struct json_object *x = *(struct json_object *const *)a, *y = *(struct json_object *const *)b;
    const bool x_fits = !sw_json_len(sw_json_get(x, "against")),
               y_fits = !sw_json_len(sw_json_get(y, "against"));
    if (x_fits != y_fits)
        return x_fits ? -1 : 1;
    if (n_stated(x) != n_stated(y))
        return n_stated(x) > n_stated(y) ? -1 : 1;
    return strcmp(sw_json_str(x, "", "name", NULL), sw_json_str(y, "", "name", NULL));
}

int sw_aicr_recommend(const struct sw_aicr_catalog *catalog, struct json_object *facts,
                      struct json_object *wanted, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *list = json_object_new_array();
    struct json_object *names = sw_aicr_overlays(catalog);
    for (size_t i = 0; i < sw_json_len(names); i++) {
        const char *name = sw_json_str(sw_json_at(names, i), "", NULL);
        struct json_object *stated = sw_aicr_overlay_criteria(catalog, name);
        SW_AUTO_JSON *result = NULL;
        if (!sw_json_len(stated))
            continue;
        const int rc = sw_aicr_resolve(catalog, stated, &result, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "overlay '%s'", name);
        (void)json_object_array_add(list, sw_aicr_judge(name, result, facts, wanted));
    }
    json_object_array_sort(list, compare);
    *out = SW_TAKE(list);
    return 0;
}

/* ---- what is there already ---------------------------------------------------------------------
 */

static char *what_is_there(struct json_object *component, struct json_object *cluster)
{
    const char *name = sw_json_str(component, "", "name", NULL),
               *ns = sw_json_str(component, "", "namespace", NULL),
               *version = sw_json_str(component, "", "version", NULL);
    SW_AUTO_CHARS *version_key = sw_printf("K8s.helm.%s.version", name);
    SW_AUTO_CHARS *ns_key = sw_printf("K8s.helm.%s.namespace", name);
    const char *has = sw_json_str(cluster, NULL, version_key, NULL);
    const char *where = sw_json_str(cluster, ns, ns_key, NULL);
    if (!has)
        return sw_strdup("nothing");
    const char *a = has + (*has == 'v'), *b = version + (*version == 'v');
    if (sw_streq(where, ns) && sw_streq(a, b))
        return sw_strdup("the same");
    return sw_streq(where, ns) ? sw_printf("%s", has)
                               : sw_printf("%s, in namespace %s", has, where);
}

struct json_object *sw_aicr_over(struct json_object *result, struct json_object *facts)
{
    struct json_object *out = json_object_new_array(),
                       *components = sw_json_get(result, "componentRefs"),
                       *order = sw_json_get(result, "deploymentOrder"),
                       *cluster = sw_json_get(facts, "cluster");
    for (size_t i = 0; i < sw_json_len(order); i++) {
        struct json_object *c = sw_json_find_by(components, "name",
                                                sw_json_str(sw_json_at(order, i), "", NULL));
        if (!c || !sw_aicr_is_enabled(c))
            continue;
        SW_AUTO_CHARS *there = what_is_there(c, cluster);
        struct json_object *row = json_object_new_object();
        sw_json_set_str(row, sw_json_str(c, "", "name", NULL), "component", NULL);
        sw_json_set_str(row, sw_json_str(c, "", "namespace", NULL), "namespace", NULL);
        sw_json_set_str(row, sw_json_str(c, "", "version", NULL), "version", NULL);
        sw_json_set_str(row, there, "there", NULL);
        (void)json_object_array_add(out, row);
    }
    return out;
}

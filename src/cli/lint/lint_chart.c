/* lint of Chart.yaml and values.yaml. */
#include <json-c/json.h>
#include <string.h>

#include "chart/aicr/constraints.h"
#include "chart/aicr/upgrades.h"
#include "cli/lint/fields.h"
#include "cli/lint/lint.h"
#include "cli/recipe/unread_values.h"
#include "data/data.h"
#include "data/text/nearest.h"
#include "data/yaml/yaml.h"
#include "operator/manifests/hooks.h"
#include "operator/manifests/ready_label.h"
#include "operator/manifests/sharing.h"

const struct sw_chart_annotation sw_chart_annotations[] = {
    { "slipway.dev/wait", "all",
      "\"all\": every object of the chart is waited for, not only annotated ones", "all" },
    { "slipway.dev/rollback", "true",
      "\"true\": a state that fails gets back what it was ready with", "true" },
    { "slipway.dev/releases", NULL,
      "a map of subcharts, in YAML: these are Helm releases of their own, with a name and a "
      "namespace of their own",
      "gpu-operator: {name: gpu-operator, namespace: gpu-operator}\n" },
    { "slipway.dev/shared-objects", NULL,
      "<namespace>/<name>[@<version>]: resources share the objects of the chart's own states, as "
      "they share releases; on an object \"false\": it is the resource's own all the same",
      "openshift-nfd/nfd@stable" },
    { "slipway.dev/state-name", NULL,
      "a named template: what it prints is the name of the chart's state, instead of the chart's "
      "own; where it prints nothing that stays",
      "slicing.state-name" },
    { SW_ANN_READY_LABELS, NULL,
      "STATE=LABEL ...: nodes get this label, too, when they get that of the state",
      "device-plugin=kmm.node.kubernetes.io/my-ns.my-module.device-plugin-ready" },
    { SW_ANN_CONSTRAINTS, NULL,
      "a list of name and value, in YAML: what the cluster has to be, checked before anything is "
      "written",
      "- {name: OS.release.ID, value: ubuntu}\n" },
    { SW_ANN_TOLERATIONS, NULL,
      "a list of tolerations, in YAML: the recipe's pods tolerate these taints by themselves, so "
      "that nodes with them are the resource's, too",
      "- {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}\n" },
    { SW_ANN_UPGRADES, NULL,
      "AICR's records of upgrades by release, in YAML, which `slipway plan` tells of those that go "
      "to another version; one that is not safe is stopped until it is allowed",
      "gpu-operator: {transitions: [{from: <2.0.0, to: =2.0.0, verdict: safe}]}\n" },
    { 0 },
};

const char *const *sw_chart_annotation_names(void)
{
    static const char *names[SW_COUNT(sw_chart_annotations)];
    for (size_t i = 0; sw_chart_annotations[i].name; i++)
        names[i] = sw_chart_annotations[i].name;
    return names;
}

static void __attribute__((format(printf, 5, 6)))
add(const struct sw_recipe_chart *c, struct sw_problems *problems, bool is_error, const char *field,
    const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    SW_AUTO_CHARS *path = sw_printf("%s/Chart.yaml", c->origin);
    int line = sw_yaml_line(c->text, c->len, 1, field);
    sw_problems_add(problems, is_error, path, line, "%s: %s", field, text);
}

static void check_annotation(const struct sw_recipe_chart *c, const char *key, const char *value,
                             struct sw_problems *problems)
{
    SW_AUTO_CHARS *field = sw_printf("annotations.%s", key);
    for (const struct sw_chart_annotation *a = sw_chart_annotations; a->name; a++) {
        if (!sw_streq(a->name, key))
            continue;
        if (a->on && !sw_streq(value, a->on) && !sw_streq(value, "false") &&
            !sw_streq(value, "none"))
            add(c, problems, false, field, "'%s' asks for nothing; '%s' does", value, a->on);
        return;
    }
    const char *meant = sw_text_nearest(key, sw_chart_annotation_names());
    if (!sw_starts_with(key, "slipway.dev/") && !sw_starts_with(key, SW_SRO_PREFIX))
        return;
    if (meant)
        add(c, problems, true, field, "no annotation of a chart; is it '%s'?", meant);
    else
        add(c, problems, true, field, "no annotation of a chart: it has no effect here");
}

/* Are they a list of what has a name and a value? */
static void check_constraints(const struct sw_recipe_chart *c, const char *text,
                              struct sw_problems *problems)
{
    static const char field[] = "annotations." SW_ANN_CONSTRAINTS;
    SW_AUTO_JSON *list = NULL;
    SW_ERR(err);
    if (sw_yaml_parse(text, strlen(text), NULL, &list, &err) < 0 ||
        !json_object_is_type(list, json_type_array)) {
        add(c, problems, true, field, "%s", err.text ? err.text : "not a list of constraints");
        return;
    }
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (!*sw_json_str(sw_json_at(list, i), "", "name", NULL) ||
            !*sw_json_str(sw_json_at(list, i), "", "value", NULL))
            add(c, problems, true, field, "[%zu]: name and value were expected, as texts", i);
}

void sw_lint_charts(const struct sw_recipe *recipe, struct sw_problems *problems)
{
    for (size_t i = 0; i < sw_recipe_n_charts(recipe); i++) {
        struct sw_recipe_chart chart = sw_recipe_chart(recipe, i);
        struct json_object *map = sw_json_get(chart.metadata, "annotations");
        const char *version = sw_json_str(chart.metadata, "", "apiVersion", NULL);
        if (!sw_streq(version, "v1") && !sw_streq(version, "v2"))
            add(&chart, problems, true, "apiVersion", "'%s' is neither v1 nor v2", version);
        if (!map)
            continue;
        json_object_object_foreach(map, key, value)
        {
            check_annotation(&chart, key, json_object_get_string(value), problems);
            SW_ERR(err);
            SW_AUTO_JSON *tolerations = NULL;
            if (sw_streq(key, SW_ANN_TOLERATIONS) &&
                sw_sharing_read_annotation(json_object_get_string(value), &tolerations, &err) < 0)
                add(&chart, problems, true, "annotations." SW_ANN_TOLERATIONS, "%s",
                    sw_err_text(&err));
            if (sw_streq(key, SW_ANN_CONSTRAINTS))
                check_constraints(&chart, json_object_get_string(value), problems);
        }
    }
}

/* ---- values -------------------------------------------------------------------------------------
 */

struct values_file {
    const char *path;
    struct sw_problems *problems;
};

static void on_unread(void *arg, int line, const char *text)
{
    const struct values_file *f = arg;
    sw_problems_add(f->problems, false, line ? f->path : "", line, "%s", text);
}

void sw_lint_values(const struct sw_recipe *recipe, struct json_object *set,
                    struct sw_problems *problems)
{
    SW_AUTO_CHARS *path = sw_printf("%s/values.yaml", sw_recipe_name(recipe));
    struct values_file file = { path, problems };
    sw_unread_given(recipe, set, false, on_unread, &file);
    sw_unread_defaults(recipe, on_unread, &file);
}

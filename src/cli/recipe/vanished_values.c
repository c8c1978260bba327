#include "cli/recipe/vanished_values.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/package/pack.h"
#include "cli/cluster/releases.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "data/yaml/yaml.h"

/* ---- what a chart takes ------------------------------------------------------------------------
 */

static struct json_object *property(const struct sw_chart_values *chart, const char *key)
{
    return sw_json_get(sw_json_get(chart->schema, "properties"), key);
}

/* Are the values below @key those of a subchart? */
static bool is_subchart(const struct sw_chart_values *chart, const char *key)
{
    return sw_json_find_by(chart->dependencies, "name", key) ||
           sw_json_find_by(chart->dependencies, "alias", key);
}

static bool takes(const struct sw_chart_values *chart, const char *key)
{
    return json_object_object_get_ex(chart->values, key, NULL) || property(chart, key);
}

/* Of a map: is it said what may be in it? */
static bool is_described(const struct sw_chart_values *chart)
{
    return (json_object_is_type(chart->values, json_type_object) &&
            json_object_object_length(chart->values)) ||
           sw_json_get(chart->schema, "properties");
}

static struct sw_chart_values below(const struct sw_chart_values *chart, const char *key)
{
    return (struct sw_chart_values){ .values = sw_json_get(chart->values, key),
                                     .schema = property(chart, key) };
}

static void find_vanished(const struct sw_chart_values *old, const struct sw_chart_values *new,
                          struct json_object *set, const char *prefix, struct json_object *out)
{
    json_object_object_foreach(set, key, value)
    {
        SW_AUTO_CHARS *path = sw_printf("%s%s%s", prefix, *prefix ? "." : "", key);
        const struct sw_chart_values was = below(old, key), is = below(new, key);
        if (is_subchart(new, key) || (!*prefix && sw_streq(key, "global")))
            continue;
        if (!takes(new, key) && takes(old, key))
            (void)json_object_array_add(out, json_object_new_string(path));
        else if (json_object_is_type(value, json_type_object) && is_described(&is))
            find_vanished(&was, &is, value, path, out);
    }
}

struct json_object *sw_vanished_values(const struct sw_chart_values *old,
                                       const struct sw_chart_values *new, struct json_object *set)
{
    struct json_object *out = json_object_new_array();
    if (json_object_is_type(set, json_type_object))
        find_vanished(old, new, set, "", out);
    return out;
}

/* ---- of a release ------------------------------------------------------------------------------
 */

/* The chart in Helm's newest record of the release; the caller's. NULL: there is none, or it may
 * not be read. */
static struct json_object *recorded_chart(struct sw_connection *conn, const char *name,
                                          const char *ns)
{
    SW_AUTO_JSON *who = json_object_new_object();
    SW_AUTO_JSON *list = NULL;
    SW_AUTO_JSON *record = NULL;
    SW_AUTO_JSON *release = NULL;
    SW_ERR(err); /* the plan does without */
    sw_json_set_str(who, name, "metadata", "name", NULL);
    sw_json_set_str(who, ns, "spec", "namespace", NULL);
    if (sw_releases_list(conn, who, &list, &err) < 0 || !sw_release_newest(list) ||
        sw_releases_read(conn, sw_release_newest(list), &record, &release, &err) < 0)
        return NULL;
    return json_object_get(sw_json_get(release, "chart"));
}

/* The schema that a record has, the caller's: base64, as Go writes bytes. */
static struct json_object *recorded_schema(struct json_object *chart)
{
    const char *text = sw_json_str(chart, "", "schema", NULL);
    struct json_object *schema = NULL;
    size_t len;
    SW_AUTO_CHARS *bytes = sw_base64_decode(text, strlen(text), &len);
    SW_ERR(err); /* a chart may have none */
    if (bytes && sw_json_parse(bytes, len, NULL, &schema, &err) < 0)
        return NULL;
    return schema;
}

/* A file of a chart, read as YAML; the caller's. NULL: it has none. */
static struct json_object *document_of(const struct sw_files *files, const char *name)
{
    struct json_object *doc = NULL;
    SW_ERR(err); /* as the plan has loaded the chart it can be read */
    for (size_t i = 0; i < files->n; i++)
        if (sw_streq(files->items[i].name, name) &&
            sw_yaml_parse(files->items[i].bytes, files->items[i].len, NULL, &doc, &err) < 0)
            return NULL;
    return doc;
}

/* The path of the release's chart in the plan; NULL: it has none. */
static const char *chart_of(const struct sw_plan *plan, const char *name, const char *ns)
{
    for (size_t i = 0; i < sw_plan_n_states(plan); i++) {
        const struct sw_release_of_state *release = sw_plan_state(plan, i)->release;
        if (release && sw_streq(release->name, name) &&
            (!release->namespace || sw_streq(release->namespace, ns)))
            return release->chart;
    }
    return NULL;
}

struct json_object *sw_vanished_values_of(struct sw_preview *preview, const char *name,
                                          const char *ns)
{
    const struct sw_plan *plan = preview->opened.plan;
    const char *chart = chart_of(plan, name, ns);
    SW_AUTO_JSON *there = recorded_chart(&preview->conn, name, ns);
    struct sw_files files = sw_files_init(NULL);
    const struct json_object *metadata;
    struct json_object *out = NULL;
    SW_ERR(err); /* the plan does without */
    if (chart && there && sw_plan_list_files(plan, chart, &files, &metadata, &err) == 0) {
        SW_AUTO_JSON *old_schema = recorded_schema(there);
        SW_AUTO_JSON *values = document_of(&files, "values.yaml");
        SW_AUTO_JSON *schema = document_of(&files, "values.schema.json");
        SW_AUTO_JSON *set = sw_plan_values_of(plan, chart);
        out = sw_vanished_values(
            &(struct sw_chart_values){ .values = sw_json_get(there, "values"),
                                       .schema = old_schema },
            &(struct sw_chart_values){
                .values = values,
                .schema = schema,
                .dependencies = sw_json_get((struct json_object *)metadata, "dependencies") },
            set);
    }
    sw_files_done(&files);
    return out;
}

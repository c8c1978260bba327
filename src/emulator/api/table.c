#include "emulator/api/table.h"
#include "emulator/api/convert.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/schema/crd.h"
#include "emulator/store/document.h"

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };

/* Durations below below_s are printed in a unit, with the rest in a smaller one. Source:
 * duration.HumanDuration of k8s.io/apimachinery. */
static const struct {
    int64_t below_s, unit_s, sub_s; /* sub_s 0: no smaller unit */
    char unit, sub;
} scales[] = {
    { 2 * MINUTE, 1, 0, 's', 0 },    { 10 * MINUTE, MINUTE, 1, 'm', 's' },
    { 3 * HOUR, MINUTE, 0, 'm', 0 }, { 8 * HOUR, HOUR, MINUTE, 'h', 'm' },
    { 2 * DAY, HOUR, 0, 'h', 0 },    { 8 * DAY, DAY, HOUR, 'd', 'h' },
    { 2 * YEAR, DAY, 0, 'd', 0 },    { 8LL * YEAR, YEAR, DAY, 'y', 'd' },
    { INT64_MAX, YEAR, 0, 'y', 0 },
};

char *sw_human_duration(int64_t ms, char buf[static 32])
{
    int64_t s = ms < 0 ? 0 : ms / 1000;
    size_t i = 0;
    while (s >= scales[i].below_s)
        i++;
    int n = (int)(s / scales[i].unit_s);
    int rest = scales[i].sub_s ? (int)(s % scales[i].unit_s / scales[i].sub_s) : 0;
    if (ms < -1000)
        (void)snprintf(buf, 32, "<invalid>");
    else if (rest)
        (void)snprintf(buf, 32, "%d%c%d%c", n, scales[i].unit, rest, scales[i].sub);
    else
        (void)snprintf(buf, 32, "%d%c", n, scales[i].unit);
    return buf;
}

/* ---- columns ------------------------------------------------------------------------------------
 */

static void define(json_object *table, const char *name, const char *type, const char *format,
                   const char *description, int64_t priority)
{
    json_object_array_add(sw_json_need_list(table, "columnDefinitions", NULL),
                          sw_doc_new("name", sw_str(name), "type", sw_str(type), "format",
                                     sw_str(format), "description", sw_str(description), "priority",
                                     sw_int(priority), NULL));
}

static json_object *crd_columns(const struct sw_req *req)
{
    return sw_json_get(sw_crd_version(req->kind, req->version), "additionalPrinterColumns");
}

json_object *sw_table_new(struct sw_req *req, json_object *meta)
{
    json_object *table = sw_doc_new("kind", sw_str("Table"), "apiVersion", sw_str("meta.k8s.io/v1"),
                                    "metadata", meta ? meta : json_object_new_object(), NULL);
    const struct sw_columns *columns = sw_columns_of(req->kind);
    json_object *custom = crd_columns(req);
    if (!columns || !columns->no_name)
        define(table, "Name", "string", "name",
               "Name must be unique within a namespace. Is required when creating resources, "
               "although some resources may allow a client to request the generation of an "
               "appropriate name automatically.",
               0);
    for (size_t i = 0; i < sw_json_len(custom); i++) {
        json_object *c = sw_json_at(custom, i);
        define(table, sw_json_str(c, "", "name", NULL), sw_json_str(c, "", "type", NULL),
               sw_json_str(c, "", "format", NULL), sw_json_str(c, "", "description", NULL),
               sw_json_int(c, 0, "priority", NULL));
    }
    for (const struct sw_column *c = columns ? columns->columns : NULL; c && c->name; c++)
        define(table, c->name, c->type, "", "", c->priority);
    if (!columns && !custom)
        define(table, req->kind->crd ? "Age" : "Created At", "date", "", "", 0);
    sw_json_set(table, json_object_new_array(), "rows", NULL);
    return table;
}

/* ---- cells --------------------------------------------------------------------------------------
 */

static json_object *age_of(const char *time, int64_t now_ms)
{
    int64_t ms;
    char buf[32];
    if (!time[0] || sw_time_parse(time, &ms, NULL) < 0)
        return sw_str("<unknown>");
    return sw_str(sw_human_duration(now_ms - ms, buf));
}

/* A cell of a CRD's column. In a string column, lists and maps are printed as JSON. */
static json_object *custom_cell(json_object *column, json_object *doc, int64_t now_ms)
{
    struct sw_jsonpath *path = NULL;
    const char *type = sw_json_str(column, "", "type", NULL);
    SW_AUTO_CHARS *braced = sw_printf("{%s}", sw_json_str(column, "", "jsonPath", NULL));
    if (sw_jsonpath_compile(braced, &path, NULL) < 0)
        return NULL;
    json_object *value = sw_jsonpath_first(path, doc), *cell = NULL;
    SW_AUTO_CHARS *text = NULL;
    if (value && strcmp(type, "date") == 0)
        cell = age_of(json_object_get_string(value), now_ms);
    else if (value && strcmp(type, "string") != 0)
        cell = json_object_get(value);
    else if (value && sw_jsonpath_print(path, doc, true, &text, NULL) == 0)
        cell = sw_str(text);
    sw_jsonpath_free(path);
    return cell;
}

/* ---- rows ---------------------------------------------------------------------------------------
 */

json_object *sw_table_partial(json_object *doc)
{
    return sw_doc_new("kind", sw_str("PartialObjectMetadata"), "apiVersion",
                      sw_str("meta.k8s.io/v1"), "metadata",
                      json_object_get(sw_json_get(doc, "metadata")), NULL);
}

void sw_table_add(struct sw_req *req, json_object *table, json_object *doc)
{
    const struct sw_columns *columns = sw_columns_of(req->kind);
    json_object *custom = crd_columns(req), *cells = json_object_new_array(), *object = NULL;
    int64_t now_ms = sw_loop_now_ms(sw_store_loop(req->store));
    const char *created = sw_json_str(doc, "", "metadata", "creationTimestamp", NULL);
    if (!columns || !columns->no_name)
        json_object_array_add(cells, sw_str(sw_obj_name(doc)));
    for (size_t i = 0; i < sw_json_len(custom); i++)
        json_object_array_add(cells, custom_cell(sw_json_at(custom, i), doc, now_ms));
    for (const struct sw_column *c = columns ? columns->columns : NULL; c && c->name; c++)
        json_object_array_add(cells, c->cell(&(struct sw_cell){ doc, now_ms, c->path }));
    if (!columns && !custom)
        json_object_array_add(cells, req->kind->crd ? age_of(created, now_ms) : sw_str(created));
    const char *include = sw_req_param(req, "includeObject");
    if (sw_streq(include, "Object"))
        object = sw_rest_to_version(req->kind, req->version, json_object_get(doc));
    else if (!sw_streq(include, "None"))
        object = sw_table_partial(doc);
    json_object_array_add(sw_json_get(table, "rows"),
                          sw_doc_new("cells", cells, "object", object, NULL));
}

json_object *sw_table_of_one(struct sw_req *req, json_object *doc)
{
    const char *rv = sw_json_str(doc, "", "metadata", "resourceVersion", NULL);
    json_object *table = sw_table_new(req, sw_doc_new("resourceVersion", sw_str(rv), NULL));
    sw_table_add(req, table, doc);
    return table;
}

#pragma once
/* Runs template cases: jsonl files in the format that test/golden/template/README.md describes. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "chart/template/template.h"
#include "data/json/json.h"

struct template_case {
    const char *id;
    const char *want; /* or */
    const char *error;
    size_t want_len;
};

struct template_tally {
    size_t passed, failed;
};

typedef void template_report_fn(const struct template_case *c, const char *got, size_t got_len,
                                void *arg);

static const char *case_string(struct json_object *doc, const char *key, size_t *len)
{
    struct json_object *v = NULL;
    if (!json_object_object_get_ex(doc, key, &v))
        return NULL;
    *len = (size_t)json_object_get_string_len(v);
    return json_object_get_string(v);
}

/* A template of the case: its name in the chart and its text. */
struct case_file {
    char *name;
    const char *text;
    size_t len;
};

static int by_order(const void *a, const void *b)
{
    return sw_template_order(((const struct case_file *)a)->name,
                             ((const struct case_file *)b)->name);
}

struct case_chart {
    struct case_file *templates;
    size_t n_templates;
    struct sw_template_file *files;
    size_t n_files;
};

static void case_chart_load(struct case_chart *chart, struct json_object *doc)
{
    struct json_object *files = NULL;
    size_t len = 0, n = 1;
    const char *text = case_string(doc, "template", &len);
    json_object_object_get_ex(doc, "files", &files);
    n += files ? (size_t)json_object_object_length(files) : 0;
    chart->templates = sw_zalloc(n, sizeof *chart->templates);
    chart->files = sw_zalloc(n, sizeof *chart->files);
    chart->templates[chart->n_templates++] = (struct case_file){ sw_strdup("c/templates/t.yaml"),
                                                                 text, len };
    if (files) {
        json_object_object_foreach(files, path, v)
        {
            text = json_object_get_string(v);
            len = (size_t)json_object_get_string_len(v);
            if (sw_starts_with(path, "templates/"))
                chart->templates[chart->n_templates++] =
                    (struct case_file){ sw_printf("c/%s", path), text, len };
            else
                chart->files[chart->n_files++] = (struct sw_template_file){ path, text, len };
        }
    }
    qsort(chart->templates, chart->n_templates, sizeof *chart->templates, by_order);
}

static void case_chart_done(struct case_chart *chart)
{
    for (size_t i = 0; i < chart->n_templates; i++)
        free(chart->templates[i].name);
    free(chart->templates);
    free(chart->files);
}

static struct sw_value case_root(struct sw_arena *arena, const struct case_chart *chart,
                                 struct json_object *doc)
{
    static const struct sw_template_release release = { .name = "rel", .namespace = "ns1" };
    static const struct sw_template_caps caps = { .kube_version = "v1.29.3",
                                                  .helm_version = "v3.7" };
    static const char *const chart_yaml[][2] = {
        { "name", "c" },        { "version", "1.2.3" }, { "appVersion", "4.5.6" },
        { "apiVersion", "v2" }, { "description", "d" },
    };
    struct json_object *values = NULL;
    struct sw_map *map = sw_map_new(arena);
    json_object_object_get_ex(doc, "values", &values);
    for (size_t i = 0; i < SW_COUNT(chart_yaml); i++)
        sw_map_set_cstr(map, chart_yaml[i][0], sw_value_cstr(chart_yaml[i][1]));
    const struct sw_template_root root = {
        .values = sw_value_from_json(arena, values),
        .chart = sw_value_map(map),
        .is_root = true,
        .release = sw_template_release_value(arena, &release),
        .caps = sw_template_caps_value(arena, &caps),
        .files = chart->files,
        .n_files = chart->n_files,
    };
    return sw_template_root_value(arena, &root);
}

/* Parse all, then render all that are no partials; @out gets t.yaml's output. */
static int case_render(const struct case_chart *chart, struct json_object *doc,
                       const struct sw_template_opts *opts, struct sw_template_out *out,
                       struct sw_err *err)
{
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    int rc = 0;
    for (size_t i = 0; i < chart->n_templates && rc == 0; i++)
        rc = sw_template_add(set, chart->templates[i].name, chart->templates[i].text,
                             chart->templates[i].len, err);
    struct sw_value root = case_root(arena, chart, doc);
    for (size_t i = 0; i < chart->n_templates && rc == 0; i++) {
        struct sw_template_out other = { 0 };
        const char *name = chart->templates[i].name;
        bool ours = strcmp(name, "c/templates/t.yaml") == 0;
        if (sw_template_is_partial(name))
            continue;
        rc = sw_template_exec(set, name, root, arena, opts, ours ? out : &other, err);
        sw_template_out_done(&other);
    }
    return rc;
}

/* The first "c/templates/<file>:<line>" of a message, or "". */
static const char *case_place(const char *message, size_t *len)
{
    const char *at = strstr(message, "c/templates/");
    *len = 0;
    if (!at)
        return "";
    const char *colon = strchr(at, ':');
    if (!colon)
        return "";
    *len = (size_t)(colon - at) + 1 + strspn(colon + 1, "0123456789");
    return at;
}

static bool same_place(const char *a, const char *b)
{
    size_t na, nb;
    const char *pa = case_place(a, &na), *pb = case_place(b, &nb);
    return na == nb && memcmp(pa, pb, na) == 0;
}

static void case_run(struct json_object *doc, template_report_fn *report, void *arg,
                     struct template_tally *tally)
{
    struct case_chart chart = { 0 };
    struct template_case c = { 0 };
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    size_t len;
    c.id = case_string(doc, "id", &len);
    c.want = case_string(doc, "want", &c.want_len);
    c.error = case_string(doc, "error", &len);
    case_chart_load(&chart, doc);
    int rc = case_render(&chart, doc, NULL, &out, &err);
    const char *got = rc < 0 ? sw_err_text(&err) : out.text ? out.text : "";
    size_t got_len = rc < 0 ? strlen(got) : out.len;
    bool ok = c.error ? rc < 0 && same_place(c.error, got)
                      : rc == 0 && got_len == c.want_len && memcmp(got, c.want, got_len) == 0;
    if (getenv("CASES_EXACT") && c.error && ok)
        ok = strcmp(c.error, got) == 0;
    tally->passed += ok;
    tally->failed += !ok;
    if (!ok)
        report(&c, got, got_len, arg);
    sw_template_out_done(&out);
    case_chart_done(&chart);
}

/** Run all cases of a file, reporting those that fail. @return 0 | the file cannot be read */
static inline int template_cases_run(const char *path, template_report_fn *report, void *arg,
                                     struct template_tally *tally, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(path, 64 << 20, &text, &len, err);
    if (rc < 0)
        return rc;
    for (char *line = text, *end; *line; line = end) {
        end = strchrnul(line, '\n');
        if (*end)
            *end++ = '\0';
        const struct sw_json_opts opts = { .file = path };
        struct json_object *doc = NULL;
        rc = sw_json_parse(line, strlen(line), &opts, &doc, err);
        if (rc < 0)
            return rc;
        case_run(doc, report, arg, tally);
        json_object_put(doc);
    }
    return 0;
}

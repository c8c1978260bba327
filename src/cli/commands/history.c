/* slipway history: the revisions of a SpecialResource: when, by whom, and what has changed. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/commands/revisions.h"
#include "cli/recipe/changes.h"
#include "cli/view/text.h"
#include "data/data.h"
#include "data/yaml/yaml.h"

enum { RETRIES = 3, MAX_NAMES = 3 };

struct history_opts {
    struct sw_connect_opts connect;
    const char *output;
};

static const struct sw_flag flags[] = {
    { "output", 'o', SW_FLAG_STRING, offsetof(struct history_opts, output), "FORMAT", "json|yaml",
      "a document with all changes" },
    SW_CONNECT_FLAGS(struct history_opts, connect),
    { 0 },
};

/* ---- one revision ------------------------------------------------------------------------------
 */

static struct json_object *changes_of(const struct sw_revision *r, const struct sw_revision *before)
{
    return before && before->release && r->release
               ? sw_changes_of_releases(before->release, r->release)
               : NULL;
}

/* The oldest revision before the one before the @i-th of @all that is the same as that: what a
 * rollback has brought back. NULL: none. */
static const struct sw_revision *same_as(const struct sw_revisions *all, size_t i)
{
    for (size_t k = 0; k + 1 < i && all->items[i].release; k++) {
        const struct sw_revision *old = &all->items[k];
        SW_AUTO_JSON *changes = old->release
                                    ? sw_changes_of_releases(old->release, all->items[i].release)
                                    : NULL;
        if (changes && sw_json_len(changes) == 0)
            return old;
    }
    return NULL;
}

/* Append the first keys of @section: "values a, b and 2 more". */
static void name_keys(char **text, const char *title, struct json_object *section)
{
    static const char *const how[] = { "changed", "added", "removed" };
    size_t n = 0;
    for (size_t i = 0; i < SW_COUNT(how); i++) {
        struct json_object *map = sw_json_get(section, how[i]);
        if (!map)
            continue;
        json_object_object_foreach(map, key, value)
        {
            (void)value;
            if (n++ < MAX_NAMES)
                sw_append(text, "%s%s", n == 1 ? title : ", ", key);
        }
    }
    if (n > MAX_NAMES)
        sw_append(text, " and %zu more", n - MAX_NAMES);
}

static size_t count(struct json_object *section, const char *how)
{
    return sw_json_len(sw_json_get(section, how));
}

/* What has changed, in one line; heap. */
static char *summary_of(const struct sw_revision *r, const struct sw_revision *before,
                        struct json_object *changes)
{
    if (!r->release)
        return sw_strdup("(the record cannot be read)");
    if (!before)
        return sw_strdup(r->number == 1 ? "first" : "(what was before is not kept)");
    char *text = sw_strdup("");
    struct json_object *version = sw_json_find(changes, "chart", "changed", "version", NULL),
                       *url = sw_json_find(changes, "chart", "changed", "url", NULL),
                       *objects = sw_json_get(changes, "objects");
    if (version)
        sw_append(&text, "; version %s -> %s", json_object_get_string(sw_json_at(version, 0)),
                  json_object_get_string(sw_json_at(version, 1)));
    if (url)
        sw_append(&text, "; from %s", json_object_get_string(sw_json_at(url, 1)));
    name_keys(&text, "; values ", sw_json_get(changes, "values"));
    name_keys(&text, "; files ", sw_json_get(changes, "files"));
    if (count(objects, "added") || count(objects, "removed"))
        sw_append(&text, "; objects +%zu -%zu", count(objects, "added"), count(objects, "removed"));
    if (!*text)
        sw_append(&text, "; nothing that is recorded");
    memmove(text, text + 2, strlen(text + 2) + 1);
    return text;
}

static struct json_object *doc_of(const struct sw_revisions *all, size_t i)
{
    const struct sw_revision *r = &all->items[i], *before = i ? r - 1 : NULL;
    const struct sw_revision *same = same_as(all, i);
    struct json_object *doc = json_object_new_object(),
                       *metadata = sw_json_find(r->release, "chart", "metadata", NULL);
    sw_json_set(doc, json_object_new_int64(r->number), "revision", NULL);
    sw_json_set_str(doc, sw_revision_time(r), "time", NULL);
    sw_json_set_str(doc, sw_revision_by(r, before), "by", NULL);
    sw_json_set_str(doc, sw_revision_status(r), "status", NULL);
    sw_json_set_str(doc, sw_json_str(metadata, "", "name", NULL), "chart", NULL);
    sw_json_set_str(doc, sw_json_str(metadata, "", "version", NULL), "version", NULL);
    sw_json_set(doc, json_object_new_boolean(r->trust == SW_RECORD_TRUSTED), "trusted", NULL);
    if (same)
        sw_json_set(doc, json_object_new_int64(same->number), "sameAs", NULL);
    sw_json_set(doc, changes_of(r, before), "changes", NULL);
    return doc;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

/* What is shown of a revision before its change: borrowed, but for @chart. */
enum { N_COLUMNS = 5 };
static const char *const titles[N_COLUMNS] = { "REVISION", "TIME", "BY", "STATUS", "CHART" };
struct cells {
    const char *text[N_COLUMNS];
    char number[24];
    char *chart;
};

static void fill(struct cells *c, const struct sw_revision *r, const struct sw_revision *before)
{
    struct json_object *metadata = sw_json_find(r->release, "chart", "metadata", NULL);
    const char *by = sw_revision_by(r, before);
    (void)snprintf(c->number, sizeof c->number, "%lld", (long long)r->number);
    c->chart = sw_printf("%s-%s", sw_json_str(metadata, "", "name", NULL),
                         sw_json_str(metadata, "", "version", NULL));
    const char *const text[N_COLUMNS] = { c->number, sw_revision_time(r), *by ? by : "-",
                                          sw_revision_status(r), c->chart };
    memcpy(c->text, text, sizeof text);
}

static void print_cells(const char *const text[static N_COLUMNS],
                        const int widths[static N_COLUMNS])
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        (void)printf("%-*s  ", widths[i], text[i]);
}

/* @n revisions of @all from @first on. The columns are as wide as what stands in them: the change
 * is what a terminal has the rest for. */
static void print_table(const struct sw_revisions *all, size_t first, size_t n)
{
    struct cells *rows = sw_zalloc(n + 1, sizeof *rows);
    int widths[N_COLUMNS];
    for (size_t k = 0; k < N_COLUMNS; k++)
        widths[k] = (int)strlen(titles[k]);
    for (size_t i = 0; i < n; i++) {
        const struct sw_revision *r = &all->items[first + i];
        fill(&rows[i], r, first + i ? r - 1 : NULL);
        for (size_t k = 0; k < N_COLUMNS; k++) {
            const int width = sw_text_width(rows[i].text[k]);
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    print_cells(titles, widths);
    (void)printf("CHANGE\n");
    for (size_t i = 0; i < n; i++) {
        const struct sw_revision *r = &all->items[first + i], *before = first + i ? r - 1 : NULL;
        SW_AUTO_JSON *changes = changes_of(r, before);
        SW_AUTO_CHARS *summary = summary_of(r, before, changes);
        const struct sw_revision *same = same_as(all, first + i);
        SW_AUTO_CHARS *as = same ? sw_printf("as revision %lld: ", (long long)same->number) : NULL;
        print_cells(rows[i].text, widths);
        (void)printf("%s%s%s\n", sw_text_or(as, ""), summary,
                     r->trust == SW_RECORD_TRUSTED ? "" : " (not as slipway wrote it)");
        free(rows[i].chart);
    }
    free(rows);
}

static int print_all(const struct sw_revisions *all, const char *format)
{
    if (!format) {
        print_table(all, 0, all->n);
        return SW_EXIT_OK;
    }
    SW_AUTO_JSON *list = json_object_new_array();
    for (size_t i = 0; i < all->n; i++)
        (void)json_object_array_add(list, doc_of(all, i));
    if (sw_streq(format, "json"))
        return sw_cli_print_json(list);
    SW_AUTO_CHARS *text = sw_yaml_text(list, NULL);
    return sw_cli_print(text, strlen(text));
}

/* All that has changed with revision @number. */
static int print_one(struct sw_revisions *all, const char *name, const char *number,
                     const char *format, struct sw_err *err)
{
    char *end;
    struct sw_revision *r = sw_revisions_find(all, strtoll(number, &end, 10));
    if (!r || *end)
        return sw_err_set(err, SW_NOTFOUND, "%s has no revision '%s': slipway history %s", name,
                          number, name);
    if (format) {
        SW_AUTO_JSON *doc = doc_of(all, (size_t)(r - all->items));
        SW_AUTO_CHARS *text = sw_yaml_text(doc, NULL);
        return sw_streq(format, "json") ? sw_cli_print_json(doc) : sw_cli_print(text, strlen(text));
    }
    print_table(all, (size_t)(r - all->items), 1);
    SW_AUTO_JSON *changes = changes_of(r, r > all->items ? r - 1 : NULL);
    (void)printf("\n");
    sw_changes_print(changes, sw_cli_colours(STDOUT_FILENO));
    return 0;
}

static int history(struct sw_connection *conn, const struct history_opts *opts,
                   const struct sw_operands *rest)
{
    SW_AUTO_JSON *resource = NULL;
    struct sw_revisions all = { 0 };
    SW_ERR(err);
    int rc = sw_cluster_resource(conn, rest->items[0], RETRIES, &resource, &err);
    if (rc == 0)
        rc = sw_revisions_read(conn, resource, &all, &err);
    if (rc == 0 && !all.n)
        (void)fprintf(stderr,
                      "slipway history: %s has no records: none is kept with --releases none, and "
                      "none before all states are ready or one has failed\n",
                      rest->items[0]);
    if (rc == 0)
        rc = rest->n > 1 ? print_one(&all, rest->items[0], rest->items[1], opts->output, &err)
                         : print_all(&all, opts->output);
    sw_revisions_done(&all);
    return rc < 0 ? sw_cli_fail("history", &err) : rc;
}

static int execute(const struct sw_call *call)
{
    struct history_opts opts = { 0 };
    struct sw_connection conn = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &opts, 2, &rest);
    if (rc)
        return rc - 1;
    rc = sw_connection_init(&conn, "history", &opts.connect, &err) < 0
             ? sw_cli_fail("history", &err)
             : history(&conn, &opts, &rest);
    sw_connection_done(&conn);
    return rc;
}

const struct sw_command sw_command_history = {
    .name = "history",
    .args = "NAME [REVISION]",
    .missing = "which SpecialResource?",
    .summary = "show the revisions of a SpecialResource, and what has changed",
    .details =
        "A line for each of the last ten revisions: when it began, which program wrote the "
        "resource (its field\n"
        "manager: Kubernetes does not note users; \"the recipe\": the resource is as it was, its "
        "recipe has changed),\n"
        "and what differs from the one before. With REVISION all of that, object by object. Values "
        "of Secrets, and\n"
        "those that are named like secrets, are shown as digests.\n"
        "\n"
        "The revisions are Helm's records of the release (`slipway releases`).",
    .flags = flags,
    .execute = execute,
};

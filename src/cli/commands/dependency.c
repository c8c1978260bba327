/* slipway dependency: the charts/ folder of a chart, as `helm dependency` keeps it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/recipe/dependencies.h"
#include "cli/recipe/source_flags.h"
#include "data/data.h"

enum { MAX_COLUMN = 80 };

struct dependency_opts {
    struct sw_source_flags source;
    const char *format;
};

#define FIELD(member) offsetof(struct dependency_opts, member)

static const struct sw_flag flags[] = {
    SW_SOURCE_FLAGS(FIELD(source)),
    SW_MIRROR_FLAG(FIELD(source)),
    { "output", 'o', SW_FLAG_STRING, FIELD(format), "FORMAT", "text|json",
      "list: output format (default text)" },
    { 0 },
};

/* ---- list ---------------------------------------------------------------------------------------
 */

static const char *const columns[] = { "name", "version", "repository", "status" };

/* The text of a cell; @row NULL: the title's. */
static char *cell_of(struct json_object *row, const char *column)
{
    char *cell = sw_strdup(row ? sw_json_str(row, "", column, NULL) : column);
    for (char *c = cell; *c && !row; c++)
        *c = (char)(*c - 'a' + 'A');
    if (strlen(cell) > MAX_COLUMN)
        memcpy(cell + MAX_COLUMN - 3, "...", sizeof "...");
    return cell;
}

static void print_row(struct json_object *list, struct json_object *row)
{
    for (size_t c = 0; c < SW_COUNT(columns); c++) {
        SW_AUTO_CHARS *cell = cell_of(row, columns[c]);
        size_t width = strlen(columns[c]);
        for (size_t i = 0; i < sw_json_len(list); i++) {
            SW_AUTO_CHARS *other = cell_of(sw_json_at(list, i), columns[c]);
            width = strlen(other) > width ? strlen(other) : width;
        }
        (void)printf("%s%-*s", c ? "\t" : "", (int)width, cell);
    }
    (void)printf("\n");
}

static int list(const struct dependency_opts *o, const char *chart, struct sw_err *err)
{
    SW_AUTO_JSON *all = NULL;
    SW_AUTO_JSON *unknown = NULL;
    int rc = sw_dependencies_list(chart, &all, &unknown, err);
    if (rc < 0)
        return rc;
    if (sw_streq(o->format, "json"))
        return sw_cli_print_json(all);
    if (!sw_json_len(all)) {
        (void)printf("WARNING: no dependencies at %s/charts\n", chart);
        return SW_EXIT_OK;
    }
    print_row(all, NULL);
    for (size_t i = 0; i < sw_json_len(all); i++)
        print_row(all, sw_json_at(all, i));
    (void)printf("\n");
    for (size_t i = 0; i < sw_json_len(unknown); i++)
        (void)printf("WARNING: %s\n", json_object_get_string(sw_json_at(unknown, i)));
    return SW_EXIT_OK;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int execute(const struct sw_call *call)
{
    struct dependency_opts o = { .format = "text" };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &o, 2, &rest);
    if (rc)
        return rc - 1;
    const char *what = rest.items[0], *chart = rest.n > 1 ? rest.items[1] : ".";
    bool is_list = sw_streq(what, "list") || sw_streq(what, "ls"),
         is_update = sw_streq(what, "update") || sw_streq(what, "up"),
         is_build = sw_streq(what, "build");
    if (!is_list && !is_update && !is_build)
        return sw_cli_usage("dependency", "'%s': list, update or build is needed", what);
    if (!is_list && sw_source_stand_ins(o.source.stand_ins))
        return sw_cli_usage("dependency", "--stand-ins: only the charts themselves are kept");
    if (o.source.repo || o.source.version)
        return sw_cli_usage("dependency", "--repo, --version: the chart is a folder");
    rc = is_list ? list(&o, chart, &err)
                 : sw_dependencies_get(&o.source, chart, is_build, stdout, &err);
    return rc < 0 ? sw_cli_fail("dependency", &err) : rc;
}

const struct sw_command sw_command_dependency = {
    .name = "dependency",
    .args = "list|update|build [CHART]",
    .missing = "list, update or build is needed, and the folder of a chart",
    .summary = "list, update or build the charts/ folder of a chart",
    .details = "As `helm dependency`:\n"
               "list     which charts Chart.yaml asks for, and whether charts/ has them\n"
               "update   get the newest that fit, into charts/, and write Chart.lock\n"
               "build    get those that Chart.lock names\n"
               "\n"
               "CHART is a folder (default: this one). slipway itself needs no charts/: it gets "
               "what is missing\n"
               "when it reads a chart, and slipway vendor pins it.",
    .flags = flags,
    .execute = execute,
};

/* slipway recommend: which recipes of a catalogue of NVIDIA's AI Cluster Runtime fit a cluster. */
#include "cli/commands/recommend.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "chart/aicr/constraints.h"
#include "chart/aicr/recommend.h"
#include "chart/aicr/upgrades.h"
#include "chart/recipe/load/files.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/measured.h"
#include "cli/commands/commands.h"
#include "data/data.h"

struct recommend_opts {
    struct sw_connect_opts connect;
    const char *criteria, *snapshot, *output;
};

#define FIELD(member) offsetof(struct recommend_opts, member)

static const struct sw_flag flags[] = {
    { "criteria", 0, SW_FLAG_STRING, FIELD(criteria), "NAME=VALUE,...", NULL,
      "what is wanted and a cluster does not decide: intent, platform" },
    { "snapshot", 0, SW_FLAG_STRING, FIELD(snapshot), "FILE", NULL,
      "a snapshot that aicr has taken, instead of a cluster" },
    { "output", 'o', SW_FLAG_STRING, FIELD(output), "FORMAT", "text|json",
      "json: one document (default text)" },
    SW_CONNECT_FLAGS(struct recommend_opts, connect),
    { 0 },
};

/* What is recommended from, and of which cluster. */
struct work {
    const struct recommend_opts *opts;
    struct sw_files files;
    struct sw_aicr_files table;      /* the array is owned */
    struct sw_aicr_catalog *catalog; /* NULL: it is one recipe */
    struct json_object *result;      /* of one recipe, else of the best fit; NULL: none fits */
    struct json_object *facts, *wanted, *judged, *upgrades;
    char *note;
};

static void work_done(struct work *w)
{
    sw_aicr_catalog_free(w->catalog);
    sw_files_done(&w->files);
    free((struct sw_aicr_file *)w->table.items);
    struct json_object *const docs[] = { w->result, w->facts, w->wanted, w->judged, w->upgrades };
    for (size_t i = 0; i < SW_COUNT(docs); i++)
        (void)json_object_put(docs[i]);
    free(w->note);
}

/* ---- what is asked -----------------------------------------------------------------------------
 */

static int read_source(const char *source, struct sw_files *files, struct sw_err *err)
{
    struct stat st;
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    if (stat(source, &st) == 0 && S_ISDIR(st.st_mode))
        return sw_files_read_dir(files, source, err);
    int rc = sw_file_read(source, files->limits.max_bytes, &bytes, &len, err);
    if (rc < 0)
        return rc;
    return sw_aicr_is_result(bytes, len)
               ? sw_files_add(files, "recipe.yaml", SW_TAKE(bytes), len, err)
               : sw_files_read_archive(files, source, bytes, len, err);
}

static int open_source(struct work *w, const char *source, struct sw_err *err)
{
    const struct sw_aicr_opts none = { 0 };
    w->files = sw_files_init(NULL);
    int rc = read_source(source, &w->files, err);
    w->table = sw_files_aicr(&w->files);
    if (rc == 0 && sw_aicr_find(&w->table, "recipe.yaml"))
        return sw_aicr_read(source, &w->table, &none, &w->result, err);
    if (rc == 0)
        rc = sw_aicr_catalog_open(source, &w->table, &w->catalog, err);
    if (rc == 0 && w->opts->criteria)
        rc = sw_aicr_criteria(w->catalog, w->opts->criteria, &w->wanted, err);
    return rc;
}

static int read_facts(struct work *w, struct sw_err *err)
{
    enum { MAX_BYTES = 64 << 20 };
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    if (w->opts->snapshot) {
        const int rc = sw_file_read(w->opts->snapshot, MAX_BYTES, &text, &len, err);
        return rc < 0 ? rc : sw_aicr_snapshot_read(w->opts->snapshot, text, len, &w->facts, err);
    }
    struct sw_connection conn = { 0 };
    int rc = sw_connection_init(&conn, "recommend", &w->opts->connect, err);
    if (rc == 0)
        rc = sw_cluster_measured(&conn, &w->facts, &w->note, err);
    sw_connection_done(&conn);
    return rc;
}

static bool fits(struct json_object *judged)
{
    return judged && !sw_json_len(sw_json_get(judged, "against"));
}

static int judge(struct work *w, const char *source, struct sw_err *err)
{
    if (!w->catalog) {
        const char *slash = strrchr(source, '/');
        w->judged = json_object_new_array();
        (void)json_object_array_add(
            w->judged, sw_aicr_judge(slash ? slash + 1 : source, w->result, w->facts, NULL));
        return 0;
    }
    int rc = sw_aicr_recommend(w->catalog, w->facts, w->wanted, &w->judged, err);
    struct json_object *best = rc == 0 ? sw_json_at(w->judged, 0) : NULL;
    if (fits(best))
        rc = sw_aicr_resolve(w->catalog, sw_json_get(best, "criteria"), &w->result, err);
    return rc;
}

/* ---- what is said ------------------------------------------------------------------------------
 */

static void print_cluster(struct json_object *facts)
{
    SW_AUTO_JSON *known = sw_aicr_criteria_known(facts);
    static const char *const keys[] = { "service", "accelerator", "os" };
    (void)printf("cluster: Kubernetes %s",
                 sw_json_str(facts, "of unknown version", "cluster", "K8s.server.version", NULL));
    for (size_t i = 0; i < SW_COUNT(keys); i++) {
        SW_AUTO_CHARS *text = sw_json_joined(sw_json_get(known, keys[i]), "; ");
        (void)printf(", %s %s", keys[i], *text ? text : "not known");
    }
    (void)printf("\n");
}

/* "service=eks,accelerator=h100"; the caller's. */
static char *criteria_text(struct json_object *criteria)
{
    char *all = sw_strdup("");
    json_object_object_foreach(criteria, key, value)
    {
        const char *text = json_object_get_string(value);
        if (!sw_streq(text, "any") && !sw_streq(text, "0"))
            sw_append(&all, "%s%s=%s", *all ? "," : "", key, text);
    }
    return all;
}

static void print_judged(const struct work *w, const char *source)
{
    for (size_t i = 0; i < sw_json_len(w->judged); i++) {
        struct json_object *j = sw_json_at(w->judged, i);
        SW_AUTO_CHARS *against = sw_json_joined(sw_json_get(j, "against"), "; ");
        SW_AUTO_CHARS *unknown = sw_json_joined(sw_json_get(j, "unknown"), "; ");
        (void)printf("%-6s %s%s%s%s%s\n", fits(j) ? "fits" : "no", sw_json_str(j, "", "name", NULL),
                     *against ? ": " : "", against, !*against && *unknown ? ", if: " : "",
                     *against ? "" : unknown);
    }
    struct json_object *best = sw_json_at(w->judged, 0);
    if (w->catalog && fits(best)) {
        SW_AUTO_CHARS *criteria = criteria_text(sw_json_get(best, "criteria"));
        (void)printf("try: slipway run %s --criteria %s\n", source, criteria);
    }
}

static void print_over(struct json_object *over)
{
    (void)printf("%-32s %-24s %-12s %s\n", "COMPONENT", "NAMESPACE", "VERSION", "IS THERE");
    for (size_t i = 0; i < sw_json_len(over); i++) {
        struct json_object *row = sw_json_at(over, i);
        (void)printf("%-32s %-24s %-12s %s\n", sw_json_str(row, "", "component", NULL),
                     sw_json_str(row, "", "namespace", NULL), sw_json_str(row, "", "version", NULL),
                     sw_json_str(row, "", "there", NULL));
    }
}

/* What AICR's records say of components that are there in another version. */
static void print_upgrades(struct json_object *upgrades)
{
    for (size_t i = 0; i < sw_json_len(upgrades); i++) {
        struct json_object *u = sw_json_at(upgrades, i);
        SW_AUTO_CHARS *text = sw_aicr_upgrade_text(u, "\n  ", "before");
        const char *old = sw_json_str(u, NULL, "replaces", NULL);
        if (old)
            (void)printf("%s %s replaces %s: %s: %s\n", sw_json_str(u, "", "component", NULL),
                         sw_json_str(u, "", "to", NULL), old, sw_json_str(u, "", "verdict", NULL),
                         text);
        else
            (void)printf("upgrade of %s from %s to %s: %s: %s\n",
                         sw_json_str(u, "", "component", NULL), sw_json_str(u, "", "from", NULL),
                         sw_json_str(u, "", "to", NULL), sw_json_str(u, "", "verdict", NULL), text);
    }
}

static int print(const struct work *w, const char *source)
{
    SW_AUTO_JSON *over = w->result ? sw_aicr_over(w->result, w->facts) : NULL;
    if (sw_streq(w->opts->output, "json")) {
        SW_AUTO_JSON *doc = json_object_new_object();
        (void)json_object_object_add(doc, "facts", json_object_get(w->facts));
        (void)json_object_object_add(doc, "recipes", json_object_get(w->judged));
        (void)json_object_object_add(doc, "components", json_object_get(over));
        (void)json_object_object_add(doc, "upgrades", json_object_get(w->upgrades));
        (void)sw_cli_print_json(doc); /* main() checks what was written */
    } else {
        print_cluster(w->facts);
        print_judged(w, source);
        if (over)
            print_over(over);
        print_upgrades(w->upgrades);
        if (w->note)
            (void)printf("note: %s\n", w->note);
    }
    return fits(sw_json_at(w->judged, 0)) ? SW_EXIT_OK : SW_EXIT_FAILED;
}

static int recommend(const char *command, const struct recommend_opts *opts, const char *source)
{
    struct work w = { .opts = opts };
    SW_ERR(err);
    int rc = open_source(&w, source, &err);
    if (rc == 0)
        rc = read_facts(&w, &err);
    if (rc == 0)
        rc = judge(&w, source, &err);
    if (rc == 0 && w.catalog && w.result)
        rc = sw_aicr_upgrades(w.catalog, w.result, w.facts, &w.upgrades, &err);
    rc = rc < 0 ? sw_cli_fail(command, &err) : print(&w, source);
    work_done(&w);
    return rc;
}

int recommend_offline(const char *command, const char *source, const char *criteria,
                      const char *snapshot, const char *output)
{
    const struct recommend_opts opts = { .criteria = criteria,
                                         .snapshot = snapshot,
                                         .output = output };
    return recommend(command, &opts, source);
}

static int execute(const struct sw_call *call)
{
    struct recommend_opts opts = { 0 };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &opts, 1, &rest);
    if (rc)
        return rc - 1;
    if (rest.n != 1)
        return sw_cli_usage("recommend", "from which catalogue, or of which recipe?");
    return recommend("recommend", &opts, rest.items[0]);
}

const struct sw_command sw_command_recommend = {
    .name = "recommend",
    .args = "CATALOGUE|RECIPE",
    .summary = "say which of NVIDIA's recipes fit a cluster",
    .details = "Reads the cluster (who provides its nodes, their labels, system and kernel, its "
               "version, Helm's releases), or a\n"
               "snapshot, and says which recipes of a catalogue of NVIDIA's AI Cluster Runtime "
               "fit, what speaks against\n"
               "each other one, and over what the best one would be installed (docs/aicr.md). Of "
               "one recipe (a RecipeResult\n"
               "or a bundle) it says whether it fits. Nothing is written. Ends with 1 where none "
               "fits.",
    .flags = flags,
    .execute = execute,
};

/* slipway create: a new recipe that renders, lints and walks. */
#include "cli/commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chart/aicr/aicr.h"
#include "chart/recipe/load/files.h"
#include "cli/recipe/kmm.h"
#include "cli/recipe/scaffold.h"
#include "data/json/json.h"
#include "data/json/path.h"

struct create_opts {
    const char *from_kmm, *ns;
    bool from_aicr;
    const char *data, *criteria, *recipe, *output;
    struct sw_aicr_scheduling scheduling;
};

#define FIELD(member) offsetof(struct create_opts, member)

static const struct sw_flag flags[] = {
    { "from-kmm", 0, SW_FLAG_STRING, FIELD(from_kmm), "FILE", NULL,
      "make it of the Module of Kernel Module Management in this file (- is standard input)" },
    { "namespace", 'n', SW_FLAG_STRING, FIELD(ns), "NAMESPACE", NULL,
      "the Module's namespace, where the file names none (default \"default\")" },
    { "from-aicr", 0, SW_FLAG_BOOL, FIELD(from_aicr), NULL, NULL,
      "make it of a recipe of NVIDIA's AI Cluster Runtime: of --criteria, or of --recipe" },
    { "data", 0, SW_FLAG_STRING, FIELD(data), "DIR", NULL,
      "the catalogue, a folder with registry.yaml, overlays/ and components/" },
    { "criteria", 0, SW_FLAG_STRING, FIELD(criteria), "NAME=VALUE,...", NULL,
      "what it is for: service, accelerator, intent, os, platform, nodes" },
    { "recipe", 0, SW_FLAG_STRING, FIELD(recipe), "FILE|DIR", NULL,
      "a RecipeResult, or a bundle (a folder, or packed as .tgz)" },
    { "system-node-selector", 0, SW_FLAG_STRING, FIELD(scheduling.system_selector), "KEY=VALUE,...",
      NULL, "with --data: nodes for what belongs on no node with GPUs" },
    { "system-node-toleration", 0, SW_FLAG_STRING, FIELD(scheduling.system_tolerations),
      "KEY=VALUE:EFFECT,...", NULL, "taints that it tolerates (default: all)" },
    { "accelerated-node-selector", 0, SW_FLAG_STRING, FIELD(scheduling.accelerated_selector),
      "KEY=VALUE,...", NULL, "with --data: nodes for what belongs on nodes with GPUs" },
    { "accelerated-node-toleration", 0, SW_FLAG_STRING, FIELD(scheduling.accelerated_tolerations),
      "KEY=VALUE:EFFECT,...", NULL, "taints that it tolerates (default: all)" },
    { "output", 'o', SW_FLAG_STRING, FIELD(output), "FILE", NULL,
      "with --criteria: write the RecipeResult to this file (- is standard output)" },
    { 0 },
};

/* Helm's limit for names of releases: by default a release has the recipe's name. */
enum { NAME_MAX_LEN = 53 };

static int make_dir(const char *dir, struct sw_err *err)
{
    if (mkdir(dir, 0777) == 0)
        return 0;
    if (errno == EEXIST)
        return sw_err_set(err, SW_INVALID, "'%s' exists already; it is left as it is", dir);
    int code = errno == ENOENT                     ? SW_NOTFOUND
               : errno == EACCES || errno == EROFS ? SW_FORBIDDEN
                                                   : SW_UNAVAILABLE;
    return sw_err_set(err, code, "%s: %s", dir, strerror(errno));
}

/* Write @file with the recipe's name in place of SW_SCAFFOLD_NAME. */
static int write_file(const struct sw_scaffold_file *file, const char *dir, const char *name,
                      struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, file->path), *text = sw_strdup("");
    const char *at = file->text;
    if (file->len)
        return sw_file_write(path, file->text, file->len, err);
    for (const char *mark; (mark = strstr(at, SW_SCAFFOLD_NAME));
         at = mark + strlen(SW_SCAFFOLD_NAME))
        sw_append(&text, "%.*s%s", (int)(mark - at), at, name);
    sw_append(&text, "%s", at);
    return sw_file_write(path, text, strlen(text), err);
}

/* The last part of @dir, a name for a recipe. */
static const char *name_of(const char *dir)
{
    const char *slash = strrchr(dir, '/');
    return slash ? slash + 1 : dir;
}

/* The folders of @path below @dir. */
static int make_parents(const char *dir, const char *path, struct sw_err *err)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        SW_AUTO_CHARS *folder = sw_printf("%s/%.*s", dir, (int)(slash - path), path);
        if (access(folder, F_OK) == 0)
            continue;
        const int rc = make_dir(folder, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* What was written of @path goes, and folders that are empty then: the next try starts anew. */
static void take_back(const char *dir, const char *path)
{
    SW_AUTO_CHARS *whole = sw_printf("%s/%s", dir, path);
    (void)unlink(whole); /* it may not have been written */
    for (char *slash; (slash = strrchr(whole, '/')) && slash >= whole + strlen(dir);) {
        *slash = '\0';
        (void)rmdir(whole);
    }
}

/* Write @files, whose list ends with a NULL path, to the new folder @dir. */
static int create(const char *dir, const struct sw_scaffold_file *files, struct sw_err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const char *name = name_of(dir);
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_LEN || strspn(name, letters) < len || *name == '-' ||
        name[len - 1] == '-')
        return sw_err_set(err, SW_INVALID,
                          "'%s' is no name for a recipe: expected lower-case letters, digits and "
                          "'-' between them, %d at most",
                          name, NAME_MAX_LEN);
    int rc = make_dir(dir, err);
    if (rc < 0)
        return rc;
    for (const struct sw_scaffold_file *f = files; rc == 0 && f->path; f++) {
        rc = make_parents(dir, f->path, err);
        if (rc == 0)
            rc = write_file(f, dir, name, err);
    }
    if (rc == 0)
        return 0;
    for (const struct sw_scaffold_file *f = files; f->path; f++)
        take_back(dir, f->path);
    return rc;
}

/* ---- of a Module -------------------------------------------------------------------------------
 */

static int read_module(const struct create_opts *o, struct sw_kmm_recipe *out, struct sw_err *err)
{
    enum { MAX_BYTES = 4 << 20 };
    bool is_stdin = sw_streq(o->from_kmm, "-");
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(is_stdin ? "/dev/stdin" : o->from_kmm, MAX_BYTES, &text, &len, err);
    return rc < 0 ? rc : sw_kmm_read(is_stdin ? "stdin" : o->from_kmm, text, len, o->ns, out, err);
}

/* The files of states/kmm-module, but for those that the Module decides. */
static int write_module(const char *dir, const struct sw_kmm_recipe *recipe, struct sw_err *err)
{
    SW_AUTO_CHARS *chart = sw_printf("apiVersion: v2\nname: \"" SW_SCAFFOLD_NAME "\"\n"
                                     "description: The kernel module of Module %s/%s\n"
                                     "type: application\nversion: 0.1.0\nannotations:\n%s",
                                     recipe->ns, recipe->name, recipe->annotations);
    struct sw_scaffold_file files[16] = { { "Chart.yaml", chart, 0 },
                                          { "values.yaml", recipe->values, 0 } };
    size_t n = 2;
    for (const struct sw_embedded *f = sw_kmm_module; f->name; f++)
        if (sw_starts_with(f->name, "templates/") && n + 1 < SW_COUNT(files))
            files[n++] = (struct sw_scaffold_file){ f->name, f->text, 0 };
    return create(dir, files, err);
}

static int from_module(const struct create_opts *o, const char *dir, struct sw_err *err)
{
    struct sw_kmm_recipe recipe;
    int rc = read_module(o, &recipe, err);
    if (rc < 0)
        return rc;
    if (!dir)
        dir = recipe.name;
    rc = write_module(dir, &recipe, err);
    if (rc == 0) {
        (void)printf("created %s of Module %s/%s\n", dir, recipe.ns, recipe.name);
        for (size_t i = 0; i < sw_json_len(recipe.notes); i++)
            (void)printf("note: %s\n", sw_json_str(sw_json_at(recipe.notes, i), "", NULL));
        for (size_t i = 0; i < sw_json_len(recipe.needs); i++)
            (void)printf("needs: %s in namespace %s\n",
                         sw_json_str(sw_json_at(recipe.needs, i), "", NULL), recipe.ns);
        (void)printf("try: slipway run %s --namespace %s\n", dir, recipe.ns);
    }
    sw_kmm_recipe_done(&recipe);
    return rc;
}

/* ---- of a recipe of AICR -----------------------------------------------------------------------
 */

static bool is_folder(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The files of a folder or of an archive; another file is a RecipeResult, "recipe.yaml". */
static int read_files(const char *path, struct sw_files *out, struct sw_err *err)
{
    const bool is_stdin = sw_streq(path, "-");
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    if (is_folder(path))
        return sw_files_read_dir(out, path, err);
    int rc = sw_file_read(is_stdin ? "/dev/stdin" : path, out->limits.max_bytes, &bytes, &len, err);
    if (rc < 0)
        return rc;
    if (!is_stdin && !sw_ends_with(path, ".yaml") && !sw_ends_with(path, ".yml"))
        return sw_files_read_archive(out, path, bytes, len, err);
    return sw_files_add(out, "recipe.yaml", SW_TAKE(bytes), len, err);
}

static int write_result(const char *file, struct json_object *result, struct sw_err *err)
{
    SW_AUTO_CHARS *text = sw_aicr_result_text(result);
    if (!sw_streq(file, "-"))
        return sw_file_write(file, text, strlen(text), err);
    (void)fputs(text, stdout);
    return 0;
}

static int write_recipe(const char *dir, const struct sw_aicr_made *made, struct sw_err *err)
{
    struct sw_scaffold_file *files = sw_zalloc(made->n_files + 1, sizeof *files);
    for (size_t i = 0; i < made->n_files; i++)
        files[i] = (struct sw_scaffold_file){ made->files[i].name, made->files[i].bytes,
                                              made->files[i].len };
    const int rc = create(dir, files, err);
    free(files);
    return rc;
}

static void tell_made(const char *dir, const struct sw_aicr_made *made)
{
    (void)printf("created %s: %zu components\n", dir,
                 sw_json_len(sw_json_get(made->result, "componentRefs")));
    for (size_t i = 0; i < sw_json_len(made->notes); i++)
        (void)printf("note: %s\n", sw_json_str(sw_json_at(made->notes, i), "", NULL));
    (void)printf("try: slipway graph %s; slipway run %s\n", dir, dir);
}

static int from_aicr(const struct create_opts *o, const char *dir, struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL), catalog = sw_files_init(NULL);
    struct sw_aicr_made made = { 0 };
    SW_AUTO_JSON *result = NULL;
    const char *origin = o->recipe ? o->recipe : o->data;
    int rc = read_files(origin, &files, err);
    if (rc == 0 && o->recipe && o->data)
        rc = read_files(o->data, &catalog, err);
    const struct sw_aicr_files from = sw_files_aicr(&files), data = sw_files_aicr(&catalog);
    const struct sw_aicr_opts opts = { .name = dir ? name_of(dir) : NULL,
                                       .criteria = o->criteria,
                                       .data = o->recipe && o->data ? &data : NULL,
                                       .scheduling = &o->scheduling };
    if (rc == 0 && o->output)
        rc = sw_aicr_read(origin, &from, &opts, &result, err);
    if (rc == 0 && o->output)
        rc = write_result(o->output, result, err);
    if (rc == 0 && dir)
        rc = sw_aicr_make(origin, &from, &opts, &made, err);
    if (rc == 0 && dir)
        rc = write_recipe(dir, &made, err);
    if (rc == 0 && dir)
        tell_made(dir, &made);
    sw_aicr_made_done(&made);
    sw_files_done(&files);
    sw_files_done(&catalog);
    free((struct sw_aicr_file *)from.items);
    free((struct sw_aicr_file *)data.items);
    return rc;
}

/* What cannot be asked for together; NULL: all is well. */
static const char *find_misuse(const struct create_opts *o, const char *dir)
{
    const struct sw_aicr_scheduling *to = &o->scheduling;
    const bool schedules = to->system_selector || to->system_tolerations ||
                           to->accelerated_selector || to->accelerated_tolerations;
    if (!o->from_aicr)
        return o->data || o->criteria || o->recipe || o->output || schedules
                   ? "--data, --criteria, --recipe, --output and where pods go are for --from-aicr"
                   : NULL;
    if (o->from_kmm || o->ns)
        return "either --from-kmm or --from-aicr";
    if (!o->criteria == !o->recipe)
        return "--from-aicr needs either --criteria or --recipe";
    if (!o->data && (!o->recipe || sw_streq(o->recipe, "-") || sw_ends_with(o->recipe, ".yaml")))
        return "--data DIR: where the catalogue is (a bundle needs none)";
    if (schedules && (!o->data || !dir))
        return "where pods go is written into the values of a recipe: it takes NAME and --data";
    if (!dir && !o->output)
        return "what is the recipe to be called? (or --output FILE for the RecipeResult alone)";
    return NULL;
}

static int execute(const struct sw_call *call)
{
    struct create_opts o = { 0 };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        return rc - 1;
    const char *dir = rest.n ? rest.items[0] : NULL;
    const char *misuse = find_misuse(&o, dir);
    if (misuse)
        return sw_cli_usage("create", "%s", misuse);
    if (!dir && !o.from_kmm && !o.from_aicr)
        return sw_cli_usage("create", "what is the recipe to be called?");
    SW_ERR(err);
    rc = o.from_kmm    ? from_module(&o, dir, &err)
         : o.from_aicr ? from_aicr(&o, dir, &err)
                       : create(dir, sw_scaffold, &err);
    if (rc < 0)
        return sw_cli_fail("create", &err);
    if (!o.from_kmm && !o.from_aicr)
        (void)printf("created %s; try: slipway run %s --emulate\n", dir, dir);
    return SW_EXIT_OK;
}

const struct sw_command sw_command_create = {
    .name = "create",
    .args = "[NAME]",
    .summary = "create a new recipe",
    .details = "Writes the folder NAME: a chart of two states that renders, lints and gets Ready, "
               "for you to change.\n"
               "Nothing that exists is overwritten.\n"
               "\n"
               "With --from-kmm it is a recipe that does what the operator of Kernel Module "
               "Management does for\n"
               "a Module (docs/kmm.md); NAME is the Module's by default. A field that has no "
               "counterpart is refused.\n"
               "\n"
               "With --from-aicr it is a recipe that walks one of NVIDIA's AI Cluster Runtime "
               "(docs/aicr.md): a state\n"
               "for each component, with its chart, values, manifests and health check.",
    .flags = flags,
    .execute = execute,
};

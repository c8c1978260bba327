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
#include "cli/command/ask.h"
#include "cli/recipe/kmm.h"
#include "cli/recipe/scaffold.h"
#include "data/json/json.h"
#include "data/json/path.h"

struct create_opts {
    const char *kind, *image;
    const char *from_kmm, *ns;
    bool from_aicr;
    const char *data, *criteria, *recipe, *output;
    struct sw_aicr_scheduling scheduling;
};

#define FIELD(member) offsetof(struct create_opts, member)

static const struct sw_flag flags[] = {
    { "kind", 0, SW_FLAG_STRING, FIELD(kind), "KIND", "agent|driver|service",
      "what it brings: a program on each node, a kernel module, a program with a Service (default "
      "agent)" },
    { "image", 0, SW_FLAG_STRING, FIELD(image), "IMAGE", NULL,
      "its container image; a driver's is without a tag, which is the kernel's version" },
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

/* @text with @with in the place of each @mark. Owned. */
static char *fill_in(const char *text, const char *mark, const char *with)
{
    char *out = sw_strdup("");
    for (const char *next; (next = strstr(text, mark)); text = next + strlen(mark))
        sw_append(&out, "%.*s%s", (int)(next - text), text, with);
    sw_append(&out, "%s", text);
    return out;
}

/* Write @file with the recipe's name and image in their places. */
static int write_file(const struct sw_scaffold_file *file, const char *dir, const char *name,
                      const char *image, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, file->path);
    if (file->len)
        return sw_file_write(path, file->text, file->len, err);
    SW_AUTO_CHARS *with_image = fill_in(file->text, SW_SCAFFOLD_IMAGE, image);
    SW_AUTO_CHARS *text = fill_in(with_image, SW_SCAFFOLD_NAME, name);
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

static int check_name(const char *name, struct sw_err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_LEN || strspn(name, letters) < len || *name == '-' ||
        name[len - 1] == '-')
        return sw_err_set(err, SW_INVALID,
                          "'%s' is no name for a recipe: expected lower-case letters, digits and "
                          "'-' between them, %d at most",
                          name, NAME_MAX_LEN);
    return 0;
}

/* Write @files, whose list ends with a NULL path, to the new folder @dir. */
static int create(const char *dir, const struct sw_scaffold_file *files, const char *image,
                  struct sw_err *err)
{
    const char *name = name_of(dir);
    int rc = check_name(name, err);
    if (rc == 0)
        rc = make_dir(dir, err);
    if (rc < 0)
        return rc;
    for (const struct sw_scaffold_file *f = files; rc == 0 && f->path; f++) {
        rc = make_parents(dir, f->path, err);
        if (rc == 0)
            rc = write_file(f, dir, name, image, err);
    }
    if (rc == 0)
        return 0;
    for (const struct sw_scaffold_file *f = files; f->path; f++)
        take_back(dir, f->path);
    return rc;
}

/* ---- from nothing -------------------------------------------------------------------------------
 */

static const struct sw_scaffold *find_scaffold(const char *kind)
{
    const struct sw_scaffold *s = sw_scaffolds;
    while (s->kind && !sw_streq(s->kind, kind))
        s++;
    return s->kind ? s : NULL;
}

/* What stands in a YAML file and behind an image's name as it is; a driver's gets a tag. */
static int check_image(const char *kind, const char *image, struct sw_err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-/:@";
    const char *slash = strrchr(image, '/');
    if (!*image || strspn(image, letters) < strlen(image) || strchr("/:@-.", *image))
        return sw_err_set(err, SW_INVALID, "'%s' is no image, such as registry.example.com/me/it:1",
                          image);
    if (sw_streq(kind, "driver") && strpbrk(slash ? slash : image, ":@"))
        return sw_err_set(err, SW_INVALID,
                          "'%s': a driver's image is named without a tag, which is the kernel's "
                          "version",
                          image);
    return 0;
}

static int on_name(void *arg SW_UNUSED, const char *answer, struct sw_err *err)
{
    if (access(answer, F_OK) == 0)
        return sw_err_set(err, SW_INVALID, "'%s' exists already", answer);
    return check_name(name_of(answer), err);
}

static int on_kind(void *arg SW_UNUSED, const char *answer, struct sw_err *err)
{
    return find_scaffold(answer)
               ? 0
               : sw_err_set(err, SW_INVALID, "one of agent, driver and service was expected");
}

static int on_image(void *arg, const char *answer, struct sw_err *err)
{
    return check_image(arg, answer, err);
}

/* Ask for what no option has said. Each text is owned. */
static int ask(const struct create_opts *o, char **dir, char **kind, char **image,
               struct sw_err *err)
{
    int rc = sw_cli_ask("Name of the recipe, a new folder", "my-recipe", on_name, NULL, dir, err);
    if (rc == 0 && !o->kind) {
        (void)fprintf(stderr, "What does it bring?\n");
        for (const struct sw_scaffold *s = sw_scaffolds; s->kind; s++)
            (void)fprintf(stderr, "  %-8s %s\n", s->kind, s->doc);
        rc = sw_cli_ask("Kind", sw_scaffolds[0].kind, on_kind, NULL, kind, err);
    } else if (rc == 0) {
        *kind = sw_strdup(o->kind);
    }
    if (rc < 0 || o->image)
        return rc;
    SW_AUTO_CHARS *fallback = fill_in(find_scaffold(*kind)->image, SW_SCAFFOLD_NAME, name_of(*dir));
    return sw_cli_ask(
        sw_streq(*kind, "driver") ? "Image, without a tag: that is the kernel's version" : "Image",
        fallback, on_image, *kind, image, err);
}

/* @dir NULL: the user is asked. */
static int from_nothing(const struct create_opts *o, const char *dir, struct sw_err *err)
{
    SW_AUTO_CHARS *asked_dir = NULL, *asked_kind = NULL, *asked_image = NULL;
    int rc = dir ? 0 : ask(o, &asked_dir, &asked_kind, &asked_image, err);
    if (rc < 0)
        return rc;
    dir = dir ? dir : asked_dir;
    const char *kind = asked_kind ? asked_kind : o->kind ? o->kind : sw_scaffolds[0].kind;
    const struct sw_scaffold *s = find_scaffold(kind);
    const char *image = asked_image ? asked_image : o->image ? o->image : s->image;
    if (o->image)
        rc = check_image(kind, image, err);
    if (rc == 0)
        rc = create(dir, s->files, image, err);
    if (rc == 0)
        (void)printf("created %s; try: slipway run %s --emulate\n", dir, dir);
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
    return create(dir, files, "", err);
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
    const int rc = create(dir, files, "", err);
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
    if ((o->kind || o->image) && (o->from_kmm || o->from_aicr))
        return "--kind and --image are for a recipe of nothing else";
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
    if (!dir && !o.from_kmm && !o.from_aicr && !sw_cli_can_ask())
        return sw_cli_usage("create", "what is the recipe to be called?");
    SW_ERR(err);
    rc = o.from_kmm    ? from_module(&o, dir, &err)
         : o.from_aicr ? from_aicr(&o, dir, &err)
                       : from_nothing(&o, dir, &err);
    return rc < 0 ? sw_cli_fail("create", &err) : SW_EXIT_OK;
}

const struct sw_command sw_command_create = {
    .name = "create",
    .args = "[NAME]",
    .summary = "create a new recipe",
    .details = "Writes the folder NAME: a chart of two states that renders, lints and gets Ready, "
               "for you to change.\n"
               "Nothing that exists is overwritten. Without NAME, on a terminal, it asks for name, "
               "kind and image;\n"
               "'slipway init' is the same command.\n"
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

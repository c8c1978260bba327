/* slipway render: the manifests that a recipe gives, as `helm template` prints them. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/json.h"
#include "data/yaml.h"
#include "recipe/glob.h"
#include "recipe/recipe.h"

struct render_opts {
    const char *name, *namespace;
    struct sw_list_arg files, set, set_string, set_json, set_file;
    const char *kube_version;
    struct sw_list_arg api_versions;
    const char *facts;
    bool include_crds, no_hooks, skip_tests, is_upgrade;
    struct sw_list_arg show_only;
    const char *output_dir;
    const char *wait;
};

#define FIELD(name) offsetof(struct render_opts, name)

const struct sw_flag sw_flags_render[] = {
    { "name", 'n', SW_FLAG_STRING, FIELD(name), "NAME", NULL,
      "the release's name (default: the recipe's)" },
    { "namespace", 0, SW_FLAG_STRING, FIELD(namespace), "NAME", NULL,
      "the release's namespace (default: default)" },
    { "values", 'f', SW_FLAG_LIST, FIELD(files), "FILE", NULL, "read values from a YAML file" },
    { "set", 0, SW_FLAG_LIST, FIELD(set), "A.B=C", NULL, "set values: a.b=1,c={x,y},d[0]=z" },
    { "set-string", 0, SW_FLAG_LIST, FIELD(set_string), "A.B=C", NULL,
      "set values, all of them strings" },
    { "set-json", 0, SW_FLAG_LIST, FIELD(set_json), "A.B=JSON", NULL, "set values given as JSON" },
    { "set-file", 0, SW_FLAG_LIST, FIELD(set_file), "A.B=FILE", NULL,
      "set values to what is in files" },
    { "facts", 0, SW_FLAG_STRING, FIELD(facts), "FILE", NULL,
      "runtime values as the controller would give them, from a YAML file" },
    { "kube-version", 0, SW_FLAG_STRING, FIELD(kube_version), "VERSION", NULL,
      "the Kubernetes version that templates see" },
    { "api-versions", 'a', SW_FLAG_LIST, FIELD(api_versions), "GROUP/VERSION", NULL,
      "an API version that templates see besides the usual ones" },
    { "include-crds", 0, SW_FLAG_BOOL, FIELD(include_crds), NULL, NULL,
      "print what is in crds/ as well" },
    { "no-hooks", 0, SW_FLAG_BOOL, FIELD(no_hooks), NULL, NULL, "leave Helm's hooks out" },
    { "skip-tests", 0, SW_FLAG_BOOL, FIELD(skip_tests), NULL, NULL, "leave test hooks out" },
    { "is-upgrade", 0, SW_FLAG_BOOL, FIELD(is_upgrade), NULL, NULL,
      "let templates see an upgrade, not an install" },
    { "show-only", 's', SW_FLAG_LIST, FIELD(show_only), "TEMPLATE", NULL,
      "print only what comes from this template (templates/x.yaml, a pattern)" },
    { "output-dir", 0, SW_FLAG_STRING, FIELD(output_dir), "DIR", NULL,
      "write each template's output to a file, exactly as rendered" },
    { "wait", 0, SW_FLAG_STRING, FIELD(wait), "ordered", "ordered",
      "mark where resource groups start and end" },
    { 0 },
};

static void opts_done(struct render_opts *o)
{
    struct sw_list_arg *lists[] = { &o->files,    &o->set,          &o->set_string, &o->set_json,
                                    &o->set_file, &o->api_versions, &o->show_only };
    for (size_t i = 0; i < SW_COUNT(lists); i++)
        sw_list_arg_done(lists[i]);
}

/* ---- printing -----------------------------------------------------------------------------------
 */

static bool is_shown(const struct render_opts *o, const struct sw_rendered_doc *d)
{
    if (d->hook_events && o->no_hooks)
        return false;
    return !(o->skip_tests && (d->hook_events & SW_HOOK_TEST));
}

/* "parent/sub" for "parent/charts/sub". */
static void print_chart(const char *path)
{
    for (const char *next; (next = strstr(path, "/charts/")); path = next + strlen("/charts"))
        (void)printf("%.*s", (int)(next - path), path);
    (void)printf("%s", path);
}

static void print_mark(const char *word, const struct sw_rendered_doc *d)
{
    (void)printf("## %s resource-group: ", word);
    print_chart(d->chart);
    (void)printf(" %s\n", d->group);
}

static void print_doc(const struct sw_rendered_doc *d)
{
    (void)printf("---\n# Source: %s\n", d->path);
    (void)fwrite(d->text, 1, d->len, stdout); /* a failure stays with stdout and is asked for */
    (void)putchar('\n');
}

static bool is_grouped(const struct sw_rendered_doc *d)
{
    return d->group && !d->hook_events && !d->from_crds;
}

static void print_all(const struct render_opts *o, const struct sw_rendered *r)
{
    const struct sw_rendered_doc *open = NULL; /* of the group that was started */
    for (size_t i = 0; i < sw_rendered_n_docs(r); i++) {
        const struct sw_rendered_doc *d = sw_rendered_doc(r, i);
        if (!is_shown(o, d))
            continue;
        if (open && (open->state != d->state || !is_grouped(d))) {
            print_mark("END", open);
            open = NULL;
        }
        if (o->wait && !open && is_grouped(d)) {
            print_mark("START", d);
            open = d;
        }
        print_doc(d);
    }
    if (open)
        print_mark("END", open);
}

/* @return 0, or SW_NOTFOUND where nothing comes from the template */
static int print_only(const struct render_opts *o, const struct sw_rendered *r, const char *pattern,
                      struct sw_err *err)
{
    bool found = false;
    for (size_t i = 0; i < sw_rendered_n_docs(r); i++) {
        const struct sw_rendered_doc *d = sw_rendered_doc(r, i);
        const char *slash = strchr(d->path, '/');
        if (!is_shown(o, d) || !slash || sw_recipe_glob(pattern, slash + 1) != SW_GLOB_YES)
            continue;
        print_doc(d);
        found = true;
    }
    return found ? 0 : sw_err_set(err, SW_NOTFOUND, "nothing is rendered from '%s'", pattern);
}

static int print(const struct render_opts *o, const struct sw_plan *plan,
                 const struct sw_render_env *env, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = NULL;
    int rc = sw_recipe_render(plan, env, SW_ALL_STATES, &r, err);
    if (rc < 0)
        return rc;
    if (!o->show_only.n)
        print_all(o, r);
    for (size_t i = 0; i < o->show_only.n && rc == 0; i++)
        rc = print_only(o, r, o->show_only.items[i], err);
    return rc;
}

/* ---- writing files ------------------------------------------------------------------------------
 */

static int make_dirs(char *path, struct sw_err *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return sw_err_set(err, SW_UNAVAILABLE, "%s: %s", path, strerror(errno));
        *slash = '/';
    }
    return 0;
}

static int write_out(const char *dir, const char *path, const char *text, size_t len,
                     struct sw_err *err)
{
    SW_AUTO_CHARS *full = sw_printf("%s/%s", dir, path);
    int rc = make_dirs(full, err);
    if (rc == 0)
        rc = sw_file_write(full, text, len, 0666, err);
    if (rc == 0)
        (void)printf("wrote %s\n", full);
    return rc;
}

static bool is_chosen(const struct render_opts *o, const char *path)
{
    const char *slash = strchr(path, '/');
    bool chosen = !o->show_only.n;
    for (size_t i = 0; slash && i < o->show_only.n; i++)
        chosen |= sw_recipe_glob(o->show_only.items[i], slash + 1) == SW_GLOB_YES;
    return chosen;
}

static int write_files(const struct render_opts *o, const struct sw_plan *plan,
                       const struct sw_render_env *env, struct sw_err *err)
{
    SW_AUTO(sw_rendered) *r = NULL;
    int rc = sw_recipe_render_files(plan, env, SW_ALL_STATES, &r, err);
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_files(r); i++) {
        const struct sw_rendered_file *f = sw_rendered_file(r, i);
        if (is_chosen(o, f->path))
            rc = write_out(o->output_dir, f->path, f->text, f->len, err);
    }
    return rc;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int read_facts(const char *path, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    int rc = sw_file_read(path, 16U << 20, &text, &len, err);
    if (rc == 0)
        rc = sw_yaml_parse(text, len, &(struct sw_yaml_opts){ .file = path }, out, err);
    if (rc == 0 && *out && !json_object_is_type(*out, json_type_object)) {
        (void)json_object_put(SW_TAKE(*out));
        return sw_err_set(err, SW_INVALID, "%s: facts must be a map", path);
    }
    return rc;
}

static int render(const struct render_opts *o, const char *source, struct sw_err *err)
{
    struct sw_values_flags flags = {
        .files = o->files.items,
        .n_files = o->files.n,
        .json = o->set_json.items,
        .n_json = o->set_json.n,
        .set = o->set.items,
        .n_set = o->set.n,
        .string = o->set_string.items,
        .n_string = o->set_string.n,
        .file = o->set_file.items,
        .n_file = o->set_file.n,
    };
    SW_AUTO(sw_values) *values = NULL;
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO(sw_plan) *plan = NULL;
    SW_AUTO_JSON *facts = NULL;
    int rc = o->facts ? read_facts(o->facts, &facts, err) : 0;
    if (rc == 0)
        rc = sw_values_from_flags(&flags, &values, err);
    if (rc == 0)
        rc = sw_recipe_open(source, NULL, &recipe, err);
    struct sw_render_env env = {
        .release = o->name,
        .namespace = o->namespace,
        .is_upgrade = o->is_upgrade,
        .facts = facts,
        .kube_version = o->kube_version,
        .api_versions = o->api_versions.items,
        .n_api_versions = o->api_versions.n,
        .add_api_versions = true,
        .no_crds = !o->include_crds,
    };
    if (rc == 0)
        rc = sw_recipe_plan(recipe, values, &env, &plan, err);
    if (rc < 0)
        return rc;
    return o->output_dir ? write_files(o, plan, &env, err) : print(o, plan, &env, err);
}

int sw_cmd_render(int argc, char **argv)
{
    struct render_opts o = { 0 };
    struct sw_operands rest;
    int rc = sw_cli_parse("render", argc, argv, &o, 1, &rest);
    if (rc)
        rc--;
    else if (rest.n < 1)
        rc = sw_cli_usage("render", "which recipe? A directory or a packaged chart is needed");
    else {
        SW_ERR(err);
        rc = render(&o, rest.items[0], &err) < 0 ? sw_cli_fail("render", &err) : SW_EXIT_OK;
        if (rc == SW_EXIT_OK && (fflush(stdout) != 0 || ferror(stdout)))
            rc = SW_EXIT_FAILED;
    }
    opts_done(&o);
    return rc;
}

/* fix: which files of a folder are changed, and as what. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/lint/fix.h"
#include "data/data.h"

enum { MAX_BYTES = 16 << 20, MAX_DEPTH = 16 };

static bool is_kind(const char *path, mode_t kind)
{
    struct stat st;
    return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

static int fix_file(const char *path, enum sw_fix_kind kind, const struct sw_fix_opts *opts,
                    struct sw_fixes *fixes, struct sw_err *err)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    if (!is_kind(path, S_IFREG))
        return 0;
    int rc = sw_file_read(path, MAX_BYTES, &text, &len, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *fixed = sw_fix_text(path, kind, text, len, opts, fixes);
    return fixed ? sw_file_rewrite(path, fixed, strlen(fixed), err) : 0;
}

static int fix_folder(const char *folder, int depth, const struct sw_fix_opts *opts,
                      struct sw_fixes *fixes, struct sw_err *err)
{
    struct dirent **entries = NULL;
    const int n = is_kind(folder, S_IFDIR) ? scandir(folder, &entries, NULL, alphasort) : 0;
    int rc = 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        SW_AUTO_CHARS *path = sw_printf("%s/%s", folder, name);
        if (rc == 0 && *name != '.' && depth < MAX_DEPTH && is_kind(path, S_IFDIR))
            rc = fix_folder(path, depth + 1, opts, fixes, err);
        else if (rc == 0 && *name != '.' &&
                 (sw_ends_with(name, ".yaml") || sw_ends_with(name, ".yml") ||
                  sw_ends_with(name, ".tpl")))
            rc = fix_file(path, SW_FIX_MANIFESTS, opts, fixes, err);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int fix_chart(const char *folder, int depth, int kube_minor, struct sw_fixes *fixes,
                     struct sw_err *err);

/* The charts in charts/ that Chart.yaml names without a repository: the others are of somewhere
 * else. */
static int fix_dependencies(const char *folder, struct json_object *chart, int depth,
                            int kube_minor, struct sw_fixes *fixes, struct sw_err *err)
{
    struct json_object *list = sw_json_get(chart, "dependencies");
    int rc = 0;
    for (size_t i = 0; rc == 0 && depth < MAX_DEPTH && i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
        SW_AUTO_CHARS *sub = sw_printf("%s/charts/%s", folder, name);
        if (*name && *name != '.' && !strchr(name, '/') && is_kind(sub, S_IFDIR) &&
            !*sw_json_str(sw_json_at(list, i), "", "repository", NULL))
            rc = fix_chart(sub, depth + 1, kube_minor, fixes, err);
    }
    return rc;
}

static int fix_chart(const char *folder, int depth, int kube_minor, struct sw_fixes *fixes,
                     struct sw_err *err)
{
    SW_AUTO_CHARS *chart_path = sw_printf("%s/Chart.yaml", folder);
    SW_AUTO_CHARS *requirements = sw_printf("%s/requirements.yaml", folder);
    SW_AUTO_CHARS *values = sw_printf("%s/values.yaml", folder);
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", folder);
    SW_AUTO_CHARS *crds = sw_printf("%s/crds", folder);
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *chart = NULL;
    struct sw_fix_opts opts = { .kube_minor = kube_minor,
                                .has_requirements = access(requirements, F_OK) == 0 };
    size_t len;
    SW_ERR(ignored); /* what is no YAML is lint's to tell */
    int rc = fix_file(chart_path, SW_FIX_CHART, &opts, fixes, err);
    if (rc == 0)
        rc = sw_file_read(chart_path, MAX_BYTES, &text, &len, err);
    if (rc < 0)
        return rc;
    if (sw_yaml_parse(text, len, &(struct sw_yaml_opts){ .allow_duplicate = true }, &chart,
                      &ignored) < 0)
        sw_err_done(&ignored);
    SW_AUTO_CHARS *base = sw_printf("%s/%s.yaml", folder,
                                    sw_json_str(chart, "Chart", "name", NULL));
    opts.kube_range = sw_json_str(chart, NULL, "kubeVersion", NULL);
    rc = fix_file(values, SW_FIX_VALUES, &opts, fixes, err);
    if (rc == 0 && !sw_streq(base, chart_path) && !sw_streq(base, values))
        rc = fix_file(base, SW_FIX_MANIFESTS, &opts, fixes, err);
    if (rc == 0)
        rc = fix_folder(templates, 0, &opts, fixes, err);
    if (rc == 0)
        rc = fix_folder(crds, 0, &opts, fixes, err);
    return rc < 0 ? rc : fix_dependencies(folder, chart, depth, kube_minor, fixes, err);
}

int sw_fix_files(const char *path, int kube_minor, struct sw_fixes *fixes, struct sw_err *err)
{
    struct stat st;
    SW_AUTO_CHARS *folder = sw_strndup(path, sw_before_slashes(path, strlen(path), 1));
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return fix_chart(folder, 0, kube_minor, fixes, err);
    return fix_file(path, SW_FIX_MANIFESTS, &(struct sw_fix_opts){ .kube_minor = kube_minor },
                    fixes, err);
}

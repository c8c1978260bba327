/* slipway bundle: a recipe and its images, for a site that reaches no registry. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/output.h"
#include "chart/recipe/package/pack.h"
#include "chart/registry/registry.h"
#include "cli/command/cli.h"
#include "cli/commands/commands.h"
#include "cli/recipe/fetched.h"
#include "cli/recipe/images.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"
#include "data/text/url.h"

struct bundle_opts {
    struct sw_recipe_flags recipe;
    struct sw_list_arg mirrors;
    const char *output;
    bool digests, list;
    char *rules; /* the mirrors as one text, ",FROM=TO,..." */
    struct sw_fetched_charts charts;
};

#define FIELD(name) offsetof(struct bundle_opts, name)

static const struct sw_flag flags[] = {
    SW_RECIPE_FLAGS(FIELD(recipe)),
    { "output", 'o', SW_FLAG_STRING, FIELD(output), "FILE", NULL,
      "file to write; -: stdout (default <name>-<version>.bundle.tgz)" },
    { "list", 0, SW_FLAG_BOOL, FIELD(list), NULL, NULL, "only print the images" },
    { "digests", 0, SW_FLAG_BOOL, FIELD(digests), NULL, NULL,
      "ask the registries for the digest of each image" },
    { "mirror", 0, SW_FLAG_LIST, FIELD(mirrors), "FROM=TO", NULL,
      "images of FROM (a registry, or a path in it) are mirrored to TO; can be repeated" },
    { 0 },
};

/* ---- digests -----------------------------------------------------------------------------------
 */

struct digest_request {
    struct sw_loop *loop;
    struct json_object *entry;
    int code;
    struct sw_err *err;
};

static void on_manifest(const struct sw_registry_answer *a, void *arg)
{
    struct digest_request *w = arg;
    w->code = a->code;
    if (a->code < 0)
        sw_err_set(w->err, a->code, "%s", a->err ? sw_err_text(a->err) : sw_code_name(a->code));
    else
        sw_json_set_str(w->entry, a->digest, "digest", NULL);
    sw_loop_stop(w->loop);
}

static int ask_digests(struct json_object *images, struct sw_err *err)
{
    SW_AUTO(sw_logins) *logins = sw_logins_new();
    struct sw_loop *loop = sw_loop_new(NULL);
    struct sw_registry *reg = sw_registry_new(loop, NULL);
    int rc = sw_logins_add_home(logins, err);
    json_object_object_foreach(images, image, entry)
    {
        struct digest_request w = { .loop = loop, .entry = entry, .err = err };
        const struct sw_registry_ask ask = { .image = image, .logins = logins };
        if (rc < 0)
            break;
        (void)sw_registry_manifest(reg, &ask, on_manifest, &w);
        sw_loop_run(loop);
        rc = w.code < 0 ? sw_err_wrap(err, w.code, "image %s", image) : 0;
    }
    sw_registry_free(reg);
    sw_loop_free(loop);
    return rc;
}

/* ---- texts -------------------------------------------------------------------------------------
 */

/* "registry/repo@sha256:..." if the digest is known, without a tag: skopeo refuses both. The
 * caller's. */
static char *pinned(const char *image, struct json_object *entry)
{
    struct sw_image_ref ref = { 0 };
    SW_ERR(err);
    if (sw_image_ref_parse(image, &ref, &err) < 0)
        return sw_strdup(image);
    const char *digest = sw_json_str(entry, ref.digest ? ref.digest : "", "digest", NULL);
    char *text = *digest ? sw_printf("%s/%s@%s", ref.host, ref.repo, digest) : sw_strdup(image);
    sw_image_ref_done(&ref);
    return text;
}

/* The image at its mirror, by the digest alone if it has one; the caller's. NULL: no mirror. */
static char *mirrored(const struct bundle_opts *o, const char *image)
{
    SW_AUTO_CHARS *source = strchr(image, '@') ? pinned(image, NULL) : sw_strdup(image);
    char *to = NULL;
    SW_ERR(err); /* bundle() has checked the rules */
    (void)sw_image_mirror(o->rules, source, &to, &err);
    return to;
}

static char *image_lines(struct json_object *images)
{
    char *text = sw_strdup("");
    json_object_object_foreach(images, image, entry)
    {
        SW_AUTO_CHARS *pin = pinned(image, entry);
        sw_append(&text, "%s\n", pin);
    }
    return text;
}

/* The script that copies the images to the mirrors. */
static char *mirror_lines(const struct bundle_opts *o, struct json_object *images)
{
    char *text = sw_strdup(
        "#!/bin/sh\n"
        "# Copies every image to where the mirrors are. Options go to skopeo copy: "
        "--authfile=F, --dest-tls-verify=false, ...\n"
        "set -e\n"
        "command -v skopeo >/dev/null || { echo \"$0: skopeo is needed\" >&2; "
        "exit 1; }\n");
    json_object_object_foreach(images, image, entry)
    {
        SW_AUTO_CHARS *pin = pinned(image, entry);
        SW_AUTO_CHARS *to = mirrored(o, image);
        if (to)
            sw_append(&text, "skopeo copy --all \"$@\" docker://%s docker://%s\n", pin, to);
        else
            sw_append(&text, "# no mirror is named for %s\n", pin);
    }
    return text;
}

/* Names of images become part of a script: refuse characters that a shell interprets. */
static int check_names(const struct bundle_opts *o, struct json_object *images, struct sw_err *err)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "._-/:@+%";
    json_object_object_foreach(images, image, entry)
    {
        (void)entry;
        if (image[strspn(image, plain)] || *image == '-')
            return sw_err_set(err, SW_INVALID, "'%s' is no name of an image", image);
    }
    struct sw_mirror_rule rule;
    for (const char *at = o->rules; sw_mirror_rule_next(&at, &rule, err) > 0;)
        if (strspn(rule.to, plain) < rule.to_len)
            return sw_err_set(err, SW_INVALID, "--mirror: '%.*s' is no registry's name",
                              (int)rule.to_len, rule.to);
    return 0;
}

/* OpenShift has a kind for images by digest and one for images by tag. */
static char *policy(const struct bundle_opts *o)
{
    static const char *const kinds[][2] = { { "ImageDigestMirrorSet", "imageDigestMirrors" },
                                            { "ImageTagMirrorSet", "imageTagMirrors" } };
    char *text = sw_strdup("");
    SW_ERR(err); /* bundle() has checked the rules */
    for (size_t k = 0; k < SW_COUNT(kinds); k++) {
        struct sw_mirror_rule rule;
        sw_append(&text,
                  "%sapiVersion: config.openshift.io/v1\nkind: %s\nmetadata:\n"
                  "  name: slipway\nspec:\n  %s:\n",
                  k ? "---\n" : "", kinds[k][0], kinds[k][1]);
        for (const char *at = o->rules; sw_mirror_rule_next(&at, &rule, &err) > 0;)
            sw_append(&text, "  - source: %.*s\n    mirrors: [%.*s]\n", (int)rule.from_len,
                      rule.from, (int)rule.to_len, rule.to);
    }
    return text;
}

/* ---- charts and definitions --------------------------------------------------------------------
 */

/* "charts/<name>-<version>.tgz", with characters that file names have everywhere; the caller's. */
static char *chart_file(const struct sw_fetched_chart *chart)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+";
    SW_AUTO_CHARS *stem = sw_printf("%s%s%s", chart->name, chart->version ? "-" : "",
                                    chart->version ? chart->version : "");
    for (char *c = stem; *c; c++)
        if (!strchr(plain, *c))
            *c = '_';
    return sw_printf("charts/%s.tgz", stem);
}

/* The charts that were fetched, as they were published, with their signatures; and a list of them.
 */
static int put_charts(struct sw_files *files, const struct sw_fetched_charts *charts,
                      struct sw_err *err)
{
    SW_AUTO_JSON *list = json_object_new_array();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < charts->n; i++) {
        const struct sw_fetched_chart *c = &charts->items[i];
        SW_AUTO_CHARS *file = chart_file(c);
        SW_AUTO_CHARS *signature = sw_printf("%s.prov", file);
        char sum[SW_SHA256_HEX];
        SW_AUTO_CHARS *digest = sw_printf("sha256:%s", sw_sha256_hex(c->bytes, c->len, sum));
        SW_AUTO_CHARS *from = sw_url_shown(c->repository);
        if (sw_files_find(files->items, files->n, file)) /* two states have it */
            continue;
        struct json_object *entry = json_object_new_object();
        (void)json_object_array_add(list, entry);
        sw_json_set_str(entry, c->name, "name", NULL);
        if (c->version)
            sw_json_set_str(entry, c->version, "version", NULL);
        sw_json_set_str(entry, from, "repository", NULL);
        sw_json_set_str(entry, digest, "digest", NULL);
        sw_json_set_str(entry, file, "file", NULL);
        if (c->is_stand_in)
            sw_json_set(entry, json_object_new_boolean(true), "standIn", NULL);
        if (c->provenance)
            sw_json_set_str(entry, signature, "signature", NULL);
        rc = sw_files_copy(files, file, c->bytes, c->len, err);
        if (rc == 0 && c->provenance)
            rc = sw_files_copy(files, signature, c->provenance, strlen(c->provenance), err);
    }
    SW_AUTO_CHARS *text = rc == 0 && sw_json_len(list) ? sw_yaml_text(list, NULL) : NULL;
    return text ? sw_files_copy(files, "charts.yaml", text, strlen(text), err) : rc;
}

/* The definitions of all charts, for who applies them himself. */
static int put_definitions(struct sw_files *files, const struct sw_rendered *rendered,
                           struct sw_err *err)
{
    SW_AUTO_CHARS *text = sw_strdup("");
    for (size_t i = 0; i < sw_rendered_n_manifests(rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(rendered, i);
        if (!sw_streq(sw_obj_kind(m->doc), "CustomResourceDefinition"))
            continue;
        SW_AUTO_CHARS *doc = sw_yaml_text(m->doc, NULL);
        sw_append(&text, "---\n# Source: %s\n%s", m->path, doc);
    }
    return *text ? sw_files_copy(files, "definitions.yaml", text, strlen(text), err) : 0;
}

/* What `sha256sum -c` checks; sw_recipe_open() does so for the recipe. */
static int put_checksums(struct sw_files *files, struct sw_err *err)
{
    SW_AUTO_CHARS *text = sw_strdup("");
    for (size_t i = 0; i < files->n; i++) {
        char sum[SW_SHA256_HEX];
        sw_append(&text, "%s  %s\n", sw_sha256_hex(files->items[i].bytes, files->items[i].len, sum),
                  files->items[i].name);
    }
    return sw_files_copy(files, SW_BUNDLE_CHECKSUMS, text, strlen(text), err);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int put(struct sw_files *files, const char *name, char *text, struct sw_err *err)
{
    return sw_files_add(files, name, text, strlen(text), err);
}

static int write_bundle(const struct bundle_opts *o, const struct sw_recipe *recipe,
                        const struct sw_rendered *rendered, struct json_object *images,
                        struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    char *chart = NULL, *bytes = NULL;
    size_t chart_len = 0, len = 0;
    SW_AUTO_CHARS *archive = sw_recipe_archive_name(recipe);
    SW_AUTO_CHARS *folder = sw_strndup(archive, strlen(archive) - strlen(".tgz"));
    SW_AUTO_CHARS *usual = sw_printf("%s.bundle.tgz", folder);
    const char *path = o->output ? o->output : usual;
    int rc = check_names(o, images, err);
    if (rc == 0)
        rc = sw_recipe_pack(recipe, &chart, &chart_len, err);
    if (rc == 0)
        rc = sw_files_add(&files, archive, chart, chart_len, err);
    if (rc == 0)
        rc = put(&files, SW_BUNDLE_IMAGES, image_lines(images), err);
    if (rc == 0 && *o->rules)
        rc = put(&files, "mirror.sh", mirror_lines(o, images), err);
    if (rc == 0 && *o->rules)
        rc = put(&files, "mirrors.yaml", policy(o), err);
    if (rc == 0)
        rc = put_charts(&files, &o->charts, err);
    if (rc == 0)
        rc = put_definitions(&files, rendered, err);
    if (rc == 0)
        rc = put_checksums(&files, err);
    if (rc == 0)
        rc = sw_files_pack(&files, folder, &bytes, &len, err);
    bool to_stdout = sw_streq(path, "-");
    if (rc == 0 && *o->rules) {
        json_object_object_foreach(images, image, entry)
        {
            (void)entry;
            SW_AUTO_CHARS *to = mirrored(o, image);
            if (!to)
                (void)fprintf(stderr, "slipway bundle: warning: no mirror is named for %s\n",
                              image);
        }
    }
    sw_output_as_it_is(to_stdout);
    if (rc == 0 && to_stdout)
        (void)fwrite(bytes, 1, len, stdout); /* main() checks stdout for errors */
    else if (rc == 0)
        rc = sw_file_write(path, bytes, len, err);
    if (rc == 0 && !to_stdout)
        (void)printf("wrote %s (%d images)\n", path, json_object_object_length(images));
    free(bytes);
    sw_files_done(&files);
    return rc;
}

static void warn_of(struct json_object *drivers)
{
    json_object_object_foreach(drivers, image, entry)
    {
        (void)entry;
        (void)fprintf(stderr,
                      "slipway bundle: warning: %s: the operator adds the nodes' system to the tag "
                      "(-ubuntu22.04): add those to images.txt\n",
                      image);
    }
}

static int bundle(void *opts, struct sw_opened_recipe *recipe, struct sw_err *err)
{
    struct bundle_opts *o = opts;
    SW_AUTO(sw_rendered) *rendered = NULL;
    SW_AUTO_JSON *images = json_object_new_object();
    SW_AUTO_JSON *drivers = json_object_new_object();
    struct sw_mirror_rule rule;
    int rc;
    o->rules = sw_strdup("");
    for (size_t i = 0; i < o->mirrors.n; i++)
        sw_append(&o->rules, ",%s", o->mirrors.items[i]);
    const char *at = o->rules;
    while ((rc = sw_mirror_rule_next(&at, &rule, err)) > 0)
        ;
    if (rc < 0)
        return sw_err_wrap(err, rc, "--mirror");
    rc = sw_recipe_render(recipe->plan, &recipe->env, SW_ALL_STATES, &rendered, err);
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_manifests(rendered); i++)
        sw_images_find(sw_rendered_manifest(rendered, i)->doc, images, drivers);
    warn_of(drivers);
    if (rc == 0 && o->digests)
        rc = ask_digests(images, err);
    if (rc < 0)
        return rc;
    if (!o->list)
        return write_bundle(o, recipe->recipe, rendered, images, err);
    SW_AUTO_CHARS *lines = image_lines(images);
    return sw_cli_print(lines, strlen(lines));
}

static int execute(const struct sw_call *call)
{
    struct bundle_opts o = { 0 };
    o.recipe.source.on_got = sw_fetched_charts_add;
    o.recipe.source.on_got_arg = &o.charts;
    int rc = sw_recipe_execute(call, &o, &o.recipe, 1, bundle);
    sw_list_arg_done(&o.mirrors);
    sw_fetched_charts_done(&o.charts);
    free(o.rules);
    return rc;
}

const struct sw_command sw_command_bundle = {
    .name = "bundle",
    .args = "RECIPE",
    .missing = "which recipe? A directory or a packaged chart is needed",
    .summary = "pack a recipe and the list of its images, for a site without a network",
    .details =
        "Writes <name>-<version>.bundle.tgz: the recipe with its dependencies, which `slipway "
        "run` takes as it\n"
        "is and without a connection; images.txt with one image a line, with --digests by "
        "its digest; the\n"
        "vendors' charts as they were published (charts/, charts.yaml, with --verify their "
        "signatures);\n"
        "definitions.yaml, checksums.txt. With --mirror FROM=TO also mirror.sh, which "
        "copies the images,\n"
        "and mirrors.yaml, which names the mirrors for OpenShift and for the operator.",
    .flags = flags,
    .execute = execute,
};

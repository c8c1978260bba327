/* slipway fetch: get a recipe with its dependencies, and report what was fetched. */
#include <stdio.h>

#include "base/output.h"
#include "chart/fetch/fetch.h"
#include "chart/fetch/helper.h"
#include "cli/cluster/connect.h"
#include "cli/commands/commands.h"
#include "cli/recipe/source_flags.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "emulator/emulator.h"

struct fetch_opts {
    struct sw_source_flags source;
    struct sw_connect_opts connect;
    const char *destination, *format;
};

#define FIELD(member) offsetof(struct fetch_opts, member)

static const struct sw_flag flags[] = {
    SW_SOURCE_FLAGS(FIELD(source)),
    SW_MIRROR_FLAG(FIELD(source)),
    { "destination", 'd', SW_FLAG_STRING, FIELD(destination), "DIR", NULL,
      "write the recipe with its dependencies to an archive in this folder" },
    { "output", 'o', SW_FLAG_STRING, FIELD(format), "FORMAT", "text|json",
      "output format (default text)" },
    SW_CONNECT_FLAGS(struct fetch_opts, connect),
    { 0 },
};

/* The document that -o json prints; the caller's. */
static struct json_object *report_of(const struct sw_recipe *recipe, const struct sw_fetcher *f)
{
    struct json_object *doc = json_object_new_object(),
                       *got = sw_json_need_list(doc, "fetched", NULL);
    sw_json_set_str(doc, sw_recipe_name(recipe), "name", NULL);
    sw_json_set_str(doc, sw_recipe_version(recipe), "version", NULL);
    sw_json_set_str(doc, sw_recipe_origin(recipe), "origin", NULL);
    for (size_t i = 0; i < sw_fetcher_n_got(f); i++) {
        const struct sw_fetched *one = sw_fetcher_got(f, i);
        struct json_object *item = json_object_new_object();
        sw_json_set_str(item, one->origin, "origin", NULL);
        sw_json_set_str(item, one->digest, "digest", NULL);
        if (one->signer)
            sw_json_set_str(item, one->signer, "signer", NULL);
        (void)json_object_object_add(item, "cached", json_object_new_boolean(one->cached));
        (void)json_object_array_add(got, item);
    }
    return doc;
}

static void print_text(struct json_object *doc)
{
    struct json_object *got = sw_json_get(doc, "fetched");
    const char *file = sw_json_str(doc, NULL, "file", NULL);
    (void)printf("%s %s\n", sw_json_str(doc, "", "name", NULL),
                 sw_json_str(doc, "", "version", NULL));
    for (size_t i = 0; i < sw_json_len(got); i++) {
        struct json_object *one = sw_json_at(got, i);
        const char *digest = sw_json_str(one, "", "digest", NULL);
        const char *signer = sw_json_str(one, "", "signer", NULL);
        (void)printf("%s%s%s%s%s%s\n", sw_json_str(one, "", "origin", NULL), *digest ? " " : "",
                     digest, *signer ? " signed by " : "", signer,
                     sw_json_bool(one, false, "cached", NULL) ? " (cached)" : "");
    }
    if (file)
        (void)printf("wrote %s\n", file);
}

static int fetch(const struct fetch_opts *o, const char *source, struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO(sw_fetcher) *f = NULL;
    SW_AUTO_CHARS *path = NULL;
    int rc = sw_source_open(&o->source, source, &o->connect, &recipe, &f, err);
    if (rc == 0 && o->destination)
        rc = sw_source_pack(recipe, o->destination, &path, err);
    if (rc < 0)
        return rc;
    SW_AUTO_JSON *doc = report_of(recipe, f);
    if (path)
        sw_json_set_str(doc, path, "file", NULL);
    if (sw_streq(o->format, "json"))
        return sw_cli_print_json(doc);
    print_text(doc);
    return SW_EXIT_OK;
}

static int execute(const struct sw_call *call)
{
    struct fetch_opts o = { .format = "text" };
    struct sw_operands rest;
    SW_ERR(err);
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        return rc - 1;
    sw_output_as_it_is(sw_streq(rest.items[0], "-"));
    rc = sw_streq(rest.items[0], "-") ? sw_fetch_serve(stdin, stdout, sw_stand_ins, &err)
                                      : fetch(&o, rest.items[0], &err);
    return rc < 0 ? sw_cli_fail("fetch", &err) : rc;
}

const struct sw_command sw_command_fetch = {
    .name = "fetch",
    .args = "SOURCE",
    .missing = "which recipe? A URL is needed",
    .summary = "download a recipe with its dependencies",
    .details =
        "SOURCE is a URL: https://host/x-1.0.0.tgz, oci://host/x:1.0.0, cm://namespace/name,\n"
        "git+https://host/repo//folder?ref=branch, or with --repo the name of a chart. Downloads "
        "are cached\n"
        "by their digest. The command prints what was downloaded.\n"
        "\n"
        "With - as SOURCE, for other programs: it reads a request as JSON from stdin, and writes a "
        "line of\n"
        "JSON and the recipe to stdout.",
    .flags = flags,
    .execute = execute,
};

/* slipway fetch: get a recipe with all that it depends on, and say what was got. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/fetch/fetch.h"
#include "chart/fetch/helper.h"
#include "chart/recipe/package/pack.h"
#include "cli/cluster/connect.h"
#include "cli/command/cli.h"
#include "cli/commands/commands.h"
#include "cli/recipe/source_flags.h"
#include "data/json/json.h"
#include "data/json/path.h"

struct fetch_opts {
    struct sw_source_flags source;
    struct sw_connect_opts connect;
    const char *destination, *format;
};

#define FIELD(member) offsetof(struct fetch_opts, member)

static const struct sw_flag flags[] = {
    SW_SOURCE_FLAGS(FIELD(source)),
    { "destination", 'd', SW_FLAG_STRING, FIELD(destination), "DIR", NULL,
      "write the recipe there as an archive, with its dependencies" },
    { "output", 'o', SW_FLAG_STRING, FIELD(format), "FORMAT", "text|json",
      "how to say what was got (default text)" },
    SW_CONNECT_FLAGS(struct fetch_opts, connect),
    { 0 },
};

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

static char *text_of(struct json_object *doc)
{
    struct json_object *got = sw_json_get(doc, "fetched");
    char *text = sw_printf("%s %s\n", sw_json_str(doc, "", "name", NULL),
                           sw_json_str(doc, "", "version", NULL));
    for (size_t i = 0; i < sw_json_len(got); i++) {
        struct json_object *one = sw_json_at(got, i);
        const char *digest = sw_json_str(one, "", "digest", NULL);
        const char *signer = sw_json_str(one, "", "signer", NULL);
        sw_append(&text, "%s%s%s%s%s%s\n", sw_json_str(one, "", "origin", NULL), *digest ? " " : "",
                  digest, *signer ? " signed by " : "", signer,
                  sw_json_bool(one, false, "cached", NULL) ? " (cached)" : "");
    }
    if (*sw_json_str(doc, "", "file", NULL)) {
        sw_append(&text, "wrote %s\n", sw_json_str(doc, "", "file", NULL));
    }
    return text;
}

static int write_archive(const struct sw_recipe *recipe, const char *dir, struct json_object *doc,
                         struct sw_err *err)
{
    SW_AUTO_CHARS *bytes = NULL, *name = sw_recipe_archive_name(recipe);
    SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, name);
    size_t len;
    int rc = sw_recipe_pack(recipe, &bytes, &len, err);
    if (rc == 0)
        rc = sw_file_write(path, bytes, len, 0644, err);
    if (rc == 0)
        sw_json_set_str(doc, path, "file", NULL);
    return rc;
}

static int fetch(const struct fetch_opts *o, const char *source, char **text, struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO(sw_fetcher) *f = NULL;
    int rc = sw_source_open(&o->source, source, &o->connect, &recipe, &f, err);
    if (rc < 0)
        return rc;
    SW_AUTO_JSON *doc = report_of(recipe, f);
    if (o->destination)
        rc = write_archive(recipe, o->destination, doc, err);
    if (rc == 0 && sw_streq(o->format, "json")) {
        SW_AUTO_CHARS *json = sw_json_text(doc, SW_JSON_PRETTY, NULL);
        *text = sw_printf("%s\n", json);
    } else if (rc == 0) {
        *text = text_of(doc);
    }
    return rc;
}

static int execute(const struct sw_call *call)
{
    struct fetch_opts o = { .format = "text" };
    struct sw_operands rest;
    int rc = sw_cli_parse(call, &o, 1, &rest);
    if (rc)
        return rc - 1;
    SW_ERR(err);
    if (sw_streq(rest.items[0], "-"))
        return sw_fetch_serve(stdin, stdout, &err) < 0 ? sw_cli_fail("fetch", &err) : SW_EXIT_OK;
    SW_AUTO_CHARS *text = NULL;
    if (fetch(&o, rest.items[0], &text, &err) < 0)
        return sw_cli_fail("fetch", &err);
    return sw_cli_print(text, strlen(text));
}

const struct sw_command sw_command_fetch = {
    .name = "fetch",
    .args = "SOURCE",
    .missing = "which recipe? A URL is needed",
    .summary = "get a recipe with what it depends on, and say what was got",
    .details =
        "SOURCE is a URL: https://host/x-1.0.0.tgz, oci://host/x:1.0.0, cm://namespace/name,\n"
        "git+https://host/repo//folder?ref=branch, or with --repo a chart's name. Downloads are "
        "kept\n"
        "by their digest. For other programs: with - as SOURCE a request is read as JSON from "
        "stdin,\n"
        "and answered on stdout with a line of JSON and the recipe.",
    .flags = flags,
    .execute = execute,
};

#include "chart/recipe/plan/env_reads.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/hash.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/buffer.h"

struct sw_env_reads *sw_env_reads_new(void)
{
    struct sw_env_reads *reads = sw_zalloc(1, sizeof *reads);
    reads->arena = sw_arena_new();
    reads->facts.names = sw_map_new(reads->arena);
    reads->apis.names = sw_map_new(reads->arena);
    return reads;
}

void sw_env_reads_free(struct sw_env_reads *reads)
{
    if (!reads)
        return;
    sw_arena_free(reads->arena);
    free(reads);
}

void sw_env_reads_fact(struct sw_env_reads *reads, const char *key)
{
    if (reads)
        sw_reads_note(&reads->facts, key, strlen(key));
}

/* ---- as a text ---------------------------------------------------------------------------------
 */

static void put_line(struct sw_buffer *b, const char *what, const char *name)
{
    sw_buffer_put(b, what, strlen(what));
    sw_buffer_put(b, name, strlen(name));
    sw_buffer_char(b, '\n');
}

static void put(struct sw_buffer *b, const struct sw_reads *of, const char *one, const char *all)
{
    const struct sw_entry *e = sw_map_sorted(of->names);
    bool is_all = of->all;
    for (size_t i = 0; i < sw_map_count(of->names); i++)
        is_all = is_all || memchr(e[i].key, '\n', e[i].key_len) || strlen(e[i].key) != e[i].key_len;
    for (size_t i = 0; !is_all && i < sw_map_count(of->names); i++)
        put_line(b, one, e[i].key);
    if (is_all)
        put_line(b, all, "");
}

char *sw_env_reads_text(const struct sw_env_reads *reads)
{
    struct sw_buffer b = { 0 };
    put(&b, &reads->facts, "fact ", "facts");
    put(&b, &reads->apis, "api ", "apis");
    if (reads->looked_up)
        put_line(&b, "lookup", "");
    sw_buffer_char(&b, '\0');
    return b.text;
}

/* ---- and what an environment says of it ---------------------------------------------------------
 */

static bool has_api(const struct sw_render_env *env, const char *name)
{
    for (size_t i = 0; i < env->n_api_versions; i++)
        if (sw_streq(env->api_versions[i], name))
            return true;
    return false;
}

/* What holds for all that is rendered, whatever it reads. */
static struct json_object *rest_of(const struct sw_render_env *env)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, sw_text_or(env->release, ""), "release", NULL);
    sw_json_set_str(doc, sw_text_or(env->namespace, ""), "namespace", NULL);
    sw_json_set_str(doc, sw_text_or(env->kube_version, ""), "kubeVersion", NULL);
    sw_json_set(doc, json_object_new_int64(env->revision), "revision", NULL);
    sw_json_set(doc, json_object_new_boolean(env->is_upgrade), "isUpgrade", NULL);
    sw_json_set(doc, json_object_new_boolean(env->no_crds), "noCrds", NULL);
    sw_json_set(doc, json_object_new_boolean(env->api_versions != NULL), "hasVersions", NULL);
    return doc;
}

/* Add to @doc what @env has of @line. @return false: it cannot be told */
static bool add_line(struct json_object *doc, const char *line, const struct sw_render_env *env)
{
    struct json_object *facts = (struct json_object *)env->facts;
    if (sw_starts_with(line, "fact ")) {
        const char *key = line + strlen("fact ");
        sw_json_set(doc, json_object_get(sw_json_get(facts, key)), "facts", key, NULL);
    } else if (sw_starts_with(line, "api ")) {
        const char *name = line + strlen("api ");
        sw_json_set(doc, json_object_new_boolean(has_api(env, name)), "apis", name, NULL);
    } else if (sw_streq(line, "facts")) {
        sw_json_set(doc, json_object_get(facts), "allFacts", NULL);
    } else if (sw_streq(line, "apis")) {
        struct json_object *list = sw_json_need_list(doc, "allApis", NULL);
        for (size_t i = 0; i < env->n_api_versions; i++)
            (void)json_object_array_add(list, json_object_new_string(env->api_versions[i]));
    } else {
        return false;
    }
    return true;
}

char *sw_env_reads_digest(const char *reads, const struct sw_render_env *env)
{
    SW_AUTO_JSON *doc = rest_of(env);
    for (const char *end; *reads; reads = end + 1) {
        end = strchr(reads, '\n');
        SW_AUTO_CHARS *line = end ? sw_strndup(reads, (size_t)(end - reads)) : NULL;
        if (!line || !add_line(doc, line, env))
            return NULL;
    }
    char hash[SW_SHA256_HEX];
    return sw_strdup(sw_json_sha256(doc, hash));
}

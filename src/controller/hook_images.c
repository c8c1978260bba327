/* Images from a mirror: "docker.io=registry.local:5000/hub, quay.io/nvidia=..." says where images
 * whose name begins so are pulled from instead. The longest beginning that fits is taken. */
#include "controller/hooks_in.h"
#include "registry/registry.h"

#include <stdlib.h>
#include <string.h>

/* "nginx" is short for "docker.io/library/nginx". Heap. */
static char *whole_name(const char *image)
{
    size_t len = strcspn(image, "/");
    bool has_host = image[len] && (memchr(image, '.', len) || memchr(image, ':', len) ||
                                   (len == 9 && !memcmp(image, "localhost", len)));
    if (has_host)
        return sw_strdup(image);
    return sw_printf("docker.io/%s%s", image[len] ? "" : "library/", image);
}

/* Is @image @from itself, or in it? */
static bool begins(const char *image, const char *from, size_t len)
{
    return !strncmp(image, from, len) && (!image[len] || strchr("/:@", image[len]));
}

struct rule {
    const char *from, *to;
    size_t from_len, to_len;
};

static size_t trimmed(const char **at, size_t len)
{
    while (len && strchr(" \t\n", **at))
        ++*at, len--;
    while (len && strchr(" \t\n/", (*at)[len - 1]))
        len--;
    return len;
}

/* @return 1 and the next rule, 0 at the end | SW_INVALID */
static int next_rule(const char **text, struct rule *rule, struct sw_err *err)
{
    while (**text && strchr(", \t\n", **text))
        ++*text;
    if (!**text)
        return 0;
    size_t len = strcspn(*text, ",");
    const char *equals = memchr(*text, '=', len);
    *rule = (struct rule){ .from = *text };
    if (equals) {
        rule->to = equals + 1;
        rule->from_len = trimmed(&rule->from, (size_t)(equals - *text));
        rule->to_len = trimmed(&rule->to, len - (size_t)(rule->to - *text));
    }
    if (!rule->from_len || !rule->to_len)
        return sw_err_set(err, SW_INVALID, "'%.*s' is not SOURCE=MIRROR", (int)len, *text);
    *text += len;
    return 1;
}

int hook_mirror_image(const char *rules, const char *image, char **out, struct sw_err *err)
{
    SW_AUTO_CHARS *name = whole_name(image);
    struct rule rule, best = { 0 };
    int rc;
    while ((rc = next_rule(&rules, &rule, err)) > 0)
        if (rule.from_len > best.from_len && begins(name, rule.from, rule.from_len))
            best = rule;
    if (rc < 0)
        return rc;
    *out = best.from_len ? sw_printf("%.*s%s", (int)best.to_len, best.to, name + best.from_len)
                         : sw_strdup(image);
    return 0;
}

/* By the cluster's settings: its first mirror, where there is one. */
static char *mirror_of_cluster(const struct sw_mirrors *mirrors, const char *image)
{
    struct sw_image_ref ref = { 0 };
    struct sw_pull_sources sources = { 0 };
    char *mirrored = NULL;
    if (sw_image_ref_parse(image, &ref, NULL) == 0 &&
        sw_mirrors_sources(mirrors, &ref, &sources, NULL) == 0 && sources.items[0].is_mirror)
        mirrored = sw_image_ref_text(&sources.items[0].ref);
    sw_pull_sources_done(&sources);
    sw_image_ref_done(&ref);
    return mirrored ? mirrored : sw_strdup(image);
}

static int mirror(struct json_object *at, const char *key, const char *rules,
                  const struct sw_hook_env *env, struct sw_err *err)
{
    const char *image = sw_json_str(at, "", key, NULL);
    SW_AUTO_CHARS *mirrored = NULL;
    if (!*image)
        return 0;
    int rc = 0;
    if (sw_streq(rules, SW_MIRROR_CLUSTER))
        mirrored = mirror_of_cluster(env->mirrors, image);
    else
        rc = hook_mirror_image(rules, image, &mirrored, err);
    if (rc == 0 && !sw_streq(image, mirrored))
        sw_json_set_str(at, mirrored, key, NULL);
    return rc;
}

/* What a build starts from. */
static int mirror_build(struct json_object *doc, const char *rules, const struct sw_hook_env *env,
                        struct sw_err *err)
{
    static const char *const strategies[] = { "dockerStrategy", "sourceStrategy",
                                              "customStrategy" };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < SW_COUNT(strategies); i++) {
        struct json_object *from = sw_json_find(doc, "spec", "strategy", strategies[i], "from",
                                                NULL);
        if (sw_streq(sw_json_str(from, "", "kind", NULL), "DockerImage"))
            rc = mirror(from, "name", rules, env, err);
    }
    return rc;
}

const char *hook_mirror_rules(struct json_object *doc, struct json_object *resource)
{
    const char *own = sw_obj_annotation(doc, SW_IMAGE_MIRROR);
    return own ? own : sw_obj_annotation(resource, SW_IMAGE_MIRROR);
}

int hook_mirror_images(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err)
{
    static const char *const lists[] = { "initContainers", "containers" };
    const char *rules = hook_mirror_rules(doc, env->resource);
    if (!rules)
        return 0;
    struct json_object *pod = sw_hook_pod_template(doc);
    int rc = mirror_build(doc, rules, env, err);
    for (size_t l = 0; rc == 0 && l < SW_COUNT(lists); l++) {
        struct json_object *list = sw_json_find(pod, "spec", lists[l], NULL);
        for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
            rc = mirror(sw_json_at(list, i), "image", rules, env, err);
    }
    return rc;
}

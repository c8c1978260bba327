/* Images from a mirror: what a manifest's annotation says, or the resource's. */
#include "chart/registry/registry.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/manifests/hooks_internal.h"

#include <stdlib.h>
#include <string.h>

static int mirror(struct json_object *at, const char *key, const char *rules,
                  const struct sw_hook_env *env, struct sw_err *err)
{
    const char *image = sw_json_str(at, "", key, NULL);
    SW_AUTO_CHARS *mirrored = NULL;
    struct sw_image_ref ref = { 0 };
    struct sw_pull_sources sources = { 0 };
    if (!*image)
        return 0;
    int rc = 0;
    if (!sw_streq(rules, SW_MIRROR_CLUSTER))
        rc = sw_image_mirror(rules, image, &mirrored, err);
    else if (sw_image_ref_parse(image, &ref, NULL) == 0 &&
             sw_mirrors_sources(env->mirrors, &ref, &sources, NULL) == 0 &&
             sources.items[0].is_mirror) /* the first that the cluster's settings name */
        mirrored = sw_image_ref_text(&sources.items[0].ref);
    sw_pull_sources_done(&sources);
    sw_image_ref_done(&ref);
    if (rc == 0 && mirrored)
        sw_json_set_str(at, mirrored, key, NULL);
    return rc;
}

/* The repository, and the image where the mirror has it under another name. */
static int mirror_parts(struct json_object *at, const char *rules, const struct sw_hook_env *env,
                        struct sw_err *err)
{
    SW_AUTO_JSON *whole = json_object_new_object();
    SW_AUTO_CHARS *image = sw_image_from_fields(at);
    size_t version = strlen(sw_json_str(at, "", "version", NULL));
    if (!image)
        return 0;
    sw_json_set_str(whole, image, "image", NULL);
    int rc = mirror(whole, "image", rules, env, err);
    SW_AUTO_CHARS *mirrored = sw_strdup(sw_json_str(whole, "", "image", NULL));
    if (rc < 0 || sw_streq(mirrored, image) || strlen(mirrored) < version + 1)
        return rc;
    mirrored[strlen(mirrored) - version - 1] = '\0';
    char *name = strrchr(mirrored, '/');
    if (!name)
        return 0;
    *name++ = '\0';
    sw_json_set_str(at, mirrored, "repository", NULL);
    sw_json_set_str(at, name, "image", NULL);
    return 0;
}

/* Those of what an operator runs, wherever its resource names them. */
static int mirror_operands(struct json_object *at, const char *rules, const struct sw_hook_env *env,
                           struct sw_err *err)
{
    int rc = json_object_is_type(at, json_type_object) ? mirror_parts(at, rules, env, err) : 0;
    for (size_t i = 0; rc == 0 && json_object_is_type(at, json_type_array) && i < sw_json_len(at);
         i++)
        rc = mirror_operands(sw_json_at(at, i), rules, env, err);
    if (rc < 0 || !json_object_is_type(at, json_type_object))
        return rc;
    json_object_object_foreach(at, key, value)
    {
        (void)key;
        rc = rc < 0 ? rc : mirror_operands(value, rules, env, err);
    }
    return rc;
}

int sw_mirror_check(const char *rules, struct sw_err *err)
{
    struct sw_mirror_rule rule;
    int rc = 1;
    while (rc > 0 && rules && !sw_streq(rules, SW_MIRROR_CLUSTER))
        rc = sw_mirror_rule_next(&rules, &rule, err);
    return rc < 0 ? sw_err_wrap(err, rc, "--mirror") : 0;
}

const char *sw_mirror_rules(struct json_object *doc, struct json_object *resource,
                            const char *common)
{
    const char *own = sw_obj_annotation(doc, SW_IMAGE_MIRROR);
    const char *of_resource = sw_obj_annotation(resource, SW_IMAGE_MIRROR);
    return own ? own : of_resource ? of_resource : common;
}

int hook_mirror_images(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err)
{
    static const char *const strategies[] = { "dockerStrategy", "sourceStrategy",
                                              "customStrategy" };
    const char *rules = sw_mirror_rules(doc, env->resource, env->mirror);
    if (!rules)
        return 0;
    struct json_object *pod = sw_pod_template(doc), *container;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < SW_COUNT(strategies); i++) { /* what a build starts from */
        struct json_object *from = sw_json_find(doc, "spec", "strategy", strategies[i], "from",
                                                NULL);
        if (sw_streq(sw_json_str(from, "", "kind", NULL), "DockerImage"))
            rc = mirror(from, "name", rules, env, err);
    }
    if (rc == 0 && !pod)
        rc = mirror_operands(sw_json_get(doc, "spec"), rules, env, err);
    for (size_t i = 0; rc == 0 && (container = sw_pod_container(pod, i)); i++)
        rc = mirror(container, "image", rules, env, err);
    return rc;
}

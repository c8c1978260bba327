/* Images from a mirror, by rules: "docker.io=registry.local:5000/hub, quay.io/nvidia=...". The
 * longest prefix wins. */
#include "chart/registry/registry.h"

#include <stdlib.h>
#include <string.h>

static size_t trimmed(const char **at, size_t len)
{
    while (len && strchr(" \t\n", **at))
        ++*at, len--;
    while (len && strchr(" \t\n/", (*at)[len - 1]))
        len--;
    return len;
}

int sw_mirror_rule_next(const char **text, struct sw_mirror_rule *rule, struct sw_err *err)
{
    while (**text && strchr(", \t\n", **text))
        ++*text;
    if (!**text)
        return 0;
    size_t len = strcspn(*text, ",");
    const char *equals = memchr(*text, '=', len);
    struct sw_mirror_rule r = { .from = *text };
    if (equals) {
        r.to = equals + 1;
        r.from_len = trimmed(&r.from, (size_t)(equals - *text));
        r.to_len = trimmed(&r.to, len - (size_t)(r.to - *text));
    }
    if (!r.from_len || !r.to_len)
        return sw_err_set(err, SW_INVALID, "'%.*s' is not SOURCE=MIRROR", (int)len, *text);
    *text += len;
    *rule = r;
    return 1;
}

int sw_image_mirror(const char *rules, const char *image, char **out, struct sw_err *err)
{
    size_t len = strcspn(image, "/");
    bool has_host = image[len] && (memchr(image, '.', len) || memchr(image, ':', len) ||
                                   (len == 9 && !memcmp(image, "localhost", len)));
    const char *repo = image[len] ? "" : "library/"; /* "nginx": "docker.io/library/nginx" */
    SW_AUTO_CHARS *name = has_host ? sw_strdup(image) : sw_printf("docker.io/%s%s", repo, image);
    struct sw_mirror_rule rule, best = { 0 };
    int rc;
    while ((rc = sw_mirror_rule_next(&rules, &rule, err)) > 0)
        if (rule.from_len > best.from_len && strncmp(name, rule.from, rule.from_len) == 0 &&
            (!name[rule.from_len] || strchr("/:@", name[rule.from_len])))
            best = rule;
    if (rc < 0)
        return rc;
    *out = best.from_len ? sw_printf("%.*s%s", (int)best.to_len, best.to, name + best.from_len)
                         : NULL;
    return 0;
}

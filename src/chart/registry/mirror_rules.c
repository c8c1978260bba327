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

/* Is what @rule says the beginning of @name, up to one of @ends? */
static bool is_for(const struct sw_mirror_rule *rule, const char *name, const char *ends)
{
    return strncmp(name, rule->from, rule->from_len) == 0 &&
           (!name[rule->from_len] || strchr(ends, name[rule->from_len]));
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
        if (rule.from_len > best.from_len && is_for(&rule, name, "/:@"))
            best = rule;
    if (rc < 0)
        return rc;
    *out = best.from_len ? sw_printf("%.*s%s", (int)best.to_len, best.to, name + best.from_len)
                         : NULL;
    return 0;
}

int sw_url_mirror(const char *rules, const char *url, char **out, struct sw_err *err)
{
    static const char mark[] = "://";
    const char *at = strstr(url, mark), *name = at ? at + strlen(mark) : url;
    struct sw_mirror_rule rule, best = { 0 };
    int rc;
    while ((rc = sw_mirror_rule_next(&rules, &rule, err)) > 0) {
        bool has_scheme = memmem(rule.from, rule.from_len, mark, strlen(mark));
        if (rule.from_len > best.from_len && is_for(&rule, has_scheme ? url : name, "/:"))
            best = rule;
    }
    if (rc < 0)
        return rc;
    bool from_scheme = best.from_len && memmem(best.from, best.from_len, mark, strlen(mark)),
         to_scheme = best.to_len && memmem(best.to, best.to_len, mark, strlen(mark));
    const char *rest = (from_scheme ? url : name) + best.from_len;
    *out = !best.from_len ? NULL
           : to_scheme
               ? sw_printf("%.*s%s", (int)best.to_len, best.to, rest)
               : sw_printf("%.*s%.*s%s", (int)(name - url), url, (int)best.to_len, best.to, rest);
    return 0;
}

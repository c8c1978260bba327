/* Image references: host, repository, tag and digest. */
#include "chart/registry/registry.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/path.h"

enum { MAX_NAME = 255, MAX_TAG = 128 };

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *check_repo(const char *repo)
{
    if (!*repo)
        return "it names no repository";
    for (const char *c = repo; *c;) {
        if (!is_lower_alnum(*c))
            return *c >= 'A' && *c <= 'Z' ? "the repository must be in lower case"
                                          : "the repository has a character that is not allowed";
        while (is_lower_alnum(*c))
            c++;
        size_t len = strspn(c, "-"); /* a separator: '/', '.', '_', "__" or any number of '-' */
        if (*c == '/' || *c == '.' || *c == '_')
            len = c[0] == '_' && c[1] == '_' ? 2 : 1;
        if (*c && (len == 0 || !c[len]))
            return "the repository has a character that is not allowed";
        c += len;
    }
    return NULL;
}

static const char *check_host(const char *host)
{
    const char *port = strrchr(host, ':');
    if (*host == '[') {
        const char *end = strchr(host, ']');
        if (!end || (end[1] && end[1] != ':') ||
            strspn(host + 1, "0123456789abcdefABCDEF:.") != (size_t)(end - host - 1))
            return "the address in brackets is none";
        port = end[1] ? end + 1 : NULL;
    } else {
        size_t len = port ? (size_t)(port - host) : strlen(host);
        for (size_t i = 0; i < len; i++)
            if (!isalnum((unsigned char)host[i]) && host[i] != '.' && host[i] != '-')
                return "the registry's name has a character that is not allowed";
        if (!len || host[0] == '.' || host[0] == '-' || host[len - 1] == '-')
            return "the registry's name is none";
    }
    if (port &&
        (!port[1] || strlen(port) > 6 || strspn(port + 1, "0123456789") + 1 != strlen(port)))
        return "the port is no number";
    return NULL;
}

static const char *check_tag(const char *tag)
{
    size_t len = strlen(tag);
    if (!len || len > MAX_TAG || !is_word(tag[0]))
        return "the tag is empty, too long or begins with a character that is not allowed";
    for (size_t i = 0; i < len; i++)
        if (!is_word(tag[i]) && tag[i] != '.' && tag[i] != '-')
            return "the tag has a character that is not allowed";
    return NULL;
}

bool sw_image_digest_is_valid(const char *text)
{
    size_t want = sw_starts_with(text, "sha256:") ? 64 : sw_starts_with(text, "sha512:") ? 128 : 0;
    return want && strlen(text) == 7 + want && strspn(text + 7, "0123456789abcdef") == want;
}

/* The first component is a registry if it has '.', ':', upper case or is localhost; else the image
 * is docker.io's. */
static void split_host(const char *name, struct sw_image_ref *out)
{
    size_t len = strcspn(name, "/");
    SW_AUTO_CHARS *first = sw_strndup(name, len);
    bool is_host = name[len] && (strpbrk(first, ".:") || sw_streq(first, "localhost"));
    for (const char *c = first; name[len] && *c; c++)
        is_host |= *c >= 'A' && *c <= 'Z';
    if (is_host) {
        bool hub = sw_streq(first, "index.docker.io") || sw_streq(first, "registry-1.docker.io");
        out->host = hub ? sw_strdup("docker.io") : SW_TAKE(first);
        name += len + 1;
    } else {
        out->host = sw_strdup("docker.io");
    }
    bool short_name = sw_streq(out->host, "docker.io") && !strchr(name, '/');
    out->repo = short_name ? sw_printf("library/%s", name) : sw_strdup(name);
}

static const char *split(const char *text, struct sw_image_ref *out)
{
    SW_AUTO_CHARS *name = sw_strdup(text);
    char *at = strchr(name, '@');
    if (at) {
        *at = '\0';
        out->digest = sw_strdup(at + 1);
        if (!sw_image_digest_is_valid(out->digest))
            return "the digest is not sha256:<64 hex digits> or sha512:<128>";
    }
    char *slash = strrchr(name, '/'), *colon = strrchr(name, ':');
    if (colon && (!slash || colon > slash)) { /* else it is before a port */
        *colon = '\0';
        out->tag = sw_strdup(colon + 1);
    }
    if (!*name)
        return "it names no repository";
    split_host(name, out);
    const char *why = out->tag ? check_tag(out->tag) : NULL;
    if (!why)
        why = check_host(out->host);
    if (!why)
        why = check_repo(out->repo);
    if (!why && strlen(out->host) + 1 + strlen(out->repo) > MAX_NAME)
        why = "the name is longer than 255 characters";
    return why;
}

int sw_image_ref_parse(const char *text, struct sw_image_ref *out, struct sw_err *err)
{
    struct sw_image_ref ref = { 0 };
    const char *why = split(text, &ref);
    if (why) {
        sw_image_ref_done(&ref);
        return sw_err_set(err, SW_INVALID, "'%.300s' is not an image reference: %s", text, why);
    }
    *out = ref;
    return 0;
}

void sw_image_ref_done(struct sw_image_ref *ref)
{
    free(ref->host);
    free(ref->repo);
    free(ref->tag);
    free(ref->digest);
    *ref = (struct sw_image_ref){ 0 };
}

char *sw_image_ref_text(const struct sw_image_ref *ref)
{
    return sw_printf("%s/%s%s%s%s%s", ref->host, ref->repo, ref->tag ? ":" : "",
                     ref->tag ? ref->tag : "", ref->digest ? "@" : "",
                     ref->digest ? ref->digest : "");
}

char *sw_image_from_fields(struct json_object *map)
{
    const char *repository = sw_json_str(map, "", "repository", NULL);
    const char *image = sw_json_str(map, "", "image", NULL);
    const char *version = sw_json_str(map, "", "version", NULL);
    if (!*repository || !*image || !*version)
        return NULL;
    return sw_printf("%s/%s%s%s", repository, image, sw_starts_with(version, "sha256:") ? "@" : ":",
                     version);
}

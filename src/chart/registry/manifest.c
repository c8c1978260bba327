/* Manifests and indexes: their forms, and the image of an index for a platform. */
#include "chart/registry/internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"

enum { MAX_MANIFEST_BYTES = 4 << 20, MAX_LISTED = 20 };

static const struct {
    const char *media_type;
    enum manifest_form form;
} forms[] = {
    { "application/vnd.oci.image.manifest.v1+json", MANIFEST_IMAGE },
    { "application/vnd.docker.distribution.manifest.v2+json", MANIFEST_IMAGE },
    { "application/vnd.oci.image.index.v1+json", MANIFEST_INDEX },
    { "application/vnd.docker.distribution.manifest.list.v2+json", MANIFEST_INDEX },
};

/* By the document's own mediaType; OCI may omit it: then by the header, then by the fields. */
static int form_of(struct json_object *doc, const char *header, enum manifest_form *out,
                   struct sw_err *err)
{
    const char *own = sw_json_str(doc, NULL, "mediaType", NULL);
    const char *types[] = { own, header };
    for (size_t t = 0; t < SW_COUNT(types); t++)
        for (size_t i = 0; types[t] && i < SW_COUNT(forms); i++) {
            size_t len = strlen(forms[i].media_type);
            if (sw_starts_with(types[t], forms[i].media_type) &&
                (!types[t][len] || strchr("; ", types[t][len]))) {
                *out = forms[i].form;
                return 0;
            }
        }
    if (sw_json_int(doc, 0, "schemaVersion", NULL) == 1)
        return sw_err_set(err, SW_INVALID,
                          "a manifest of Docker's old schema 1, which is not "
                          "supported");
    bool index = sw_json_get(doc, "manifests"), image = sw_json_get(doc, "layers");
    if (index == image || own)
        return sw_err_set(err, SW_INVALID, "neither an image manifest nor an index (mediaType %s)",
                          own      ? own
                          : header ? header
                                   : "not said");
    *out = index ? MANIFEST_INDEX : MANIFEST_IMAGE;
    return 0;
}

int manifest_read(const char *text, size_t len, const char *media_type, struct json_object **doc,
                  enum manifest_form *form, struct sw_err *err)
{
    SW_AUTO_JSON *read = NULL;
    struct sw_json_opts opts = { .file = "manifest", .max_bytes = MAX_MANIFEST_BYTES };
    int rc = sw_json_parse(text, len, &opts, &read, err);
    if (rc == 0 && !json_object_is_type(read, json_type_object))
        rc = sw_err_set(err, SW_INVALID, "the manifest is not a map");
    if (rc == 0)
        rc = form_of(read, media_type, form, err);
    if (rc < 0)
        return rc;
    const char *field = *form == MANIFEST_INDEX ? "manifests" : "layers";
    struct json_object *list = sw_json_get(read, field);
    if (!json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "the manifest's %s is not a list", field);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *digest = sw_json_str(sw_json_at(list, i), "", "digest", NULL);
        if (!sw_image_digest_is_valid(digest))
            return sw_err_set(err, SW_INVALID, "%s[%zu].digest of the manifest is '%.80s'", field,
                              i, digest);
    }
    *doc = SW_TAKE(read);
    return 0;
}

/* ---- platforms ---------------------------------------------------------------------------------
 */

struct platform {
    const char *os, *arch, *variant;
};

/* How well an entry of an index fits @want. 0: not at all; 2: exactly; 1: it is for an older
 * variant, which @want runs too. */
static int fits(struct json_object *entry, const struct platform *want)
{
    struct json_object *p = sw_json_get(entry, "platform");
    const char *arch = sw_json_str(p, "", "architecture", NULL),
               *variant = sw_json_str(p, "", "variant", NULL);
    if (!sw_streq(sw_json_str(p, "", "os", NULL), want->os) || !sw_streq(arch, want->arch))
        return 0;
    const char *usual = sw_streq(arch, "arm64") ? "v8" : sw_streq(arch, "arm") ? "v7" : "";
    const char *mine = *want->variant ? want->variant : usual;
    if (sw_streq(*variant ? variant : usual, mine))
        return 2;
    return sw_streq(arch, "arm") && strcmp(variant, mine) < 0 ? 1 : !*want->variant;
}

int manifest_choose(struct json_object *index, const char *platform, const char **digest,
                    struct sw_err *err)
{
    SW_AUTO_CHARS *copy = sw_strdup(platform);
    char *arch = strchr(copy, '/');
    if (!arch)
        return sw_err_set(err, SW_INVALID, "'%s' is not a platform such as linux/amd64", platform);
    *arch++ = '\0';
    char *variant = strchr(arch, '/');
    if (variant)
        *variant++ = '\0';
    const struct platform want = { copy, arch, variant ? variant : "" };
    struct json_object *manifests = sw_json_get(index, "manifests"), *best = NULL;
    int most = 0;
    for (size_t i = 0; i < sw_json_len(manifests); i++) {
        int n = fits(sw_json_at(manifests, i), &want);
        if (n > most) {
            most = n;
            best = sw_json_at(manifests, i);
        }
    }
    *digest = sw_json_str(best, "", "digest", NULL);
    if (best)
        return 0;
    SW_AUTO_CHARS *present = NULL;
    for (size_t i = 0; i < sw_json_len(manifests) && i < MAX_LISTED; i++) {
        struct json_object *p = sw_json_find(sw_json_at(manifests, i), "platform", NULL);
        const char *os = sw_json_str(p, "", "os", NULL);
        const char *other = sw_json_str(p, "", "variant", NULL);
        if (!*os || sw_streq(os, "unknown")) /* attestations */
            continue;
        sw_append(&present, "%s%s/%s%s%s", present ? ", " : "", os,
                  sw_json_str(p, "", "architecture", NULL), *other ? "/" : "", other);
    }
    return sw_err_set(err, SW_NOTFOUND, "there is no image for %s, only for %s", platform,
                      present ? present : "none");
}

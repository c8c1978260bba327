/* Manifests and indexes: which of the forms it is, and which image of an index is for a platform.
 */
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

/* The document's own mediaType counts; OCI lets it out, so then the header's, then its shape. */
static int form_of(struct json_object *doc, const char *header, enum manifest_form *out,
                   struct sw_err *err)
{
    const char *own = sw_json_str(doc, NULL, "mediaType", NULL);
    const char *says[] = { own, header };
    for (size_t s = 0; s < SW_COUNT(says); s++)
        for (size_t i = 0; says[s] && i < SW_COUNT(forms); i++) {
            size_t len = strlen(forms[i].media_type);
            if (sw_starts_with(says[s], forms[i].media_type) &&
                (!says[s][len] || strchr("; ", says[s][len]))) {
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

static int check_digests(struct json_object *list, const char *what, struct sw_err *err)
{
    if (!json_object_is_type(list, json_type_array))
        return sw_err_set(err, SW_INVALID, "the manifest's %s is not a list", what);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *digest = sw_json_str(sw_json_at(list, i), "", "digest", NULL);
        if (!sw_image_digest_is_valid(digest))
            return sw_err_set(err, SW_INVALID, "%s[%zu].digest of the manifest is '%.80s'", what, i,
                              digest);
    }
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
    if (rc == 0) {
        const char *what = *form == MANIFEST_INDEX ? "manifests" : "layers";
        rc = check_digests(sw_json_get(read, what), what, err);
    }
    if (rc == 0)
        *doc = SW_TAKE(read);
    return rc;
}

/* ---- platforms ---------------------------------------------------------------------------------
 */

struct platform {
    const char *os, *arch, *variant;
};

/* What an architecture is when its variant is not said. */
static const char *usual_variant(const char *arch)
{
    return sw_streq(arch, "arm64") ? "v8" : sw_streq(arch, "arm") ? "v7" : "";
}

static bool is_same(const char *a, const char *b, const char *arch)
{
    return sw_streq(*a ? a : usual_variant(arch), *b ? b : usual_variant(arch));
}

/* 0: not for it; 2: for just it, 1: for an older kind of it, which it runs too. */
static int fits(struct json_object *entry, const struct platform *want)
{
    struct json_object *p = sw_json_get(entry, "platform");
    const char *arch = sw_json_str(p, "", "architecture", NULL),
               *variant = sw_json_str(p, "", "variant", NULL);
    if (!sw_streq(sw_json_str(p, "", "os", NULL), want->os) || !sw_streq(arch, want->arch))
        return 0;
    if (is_same(variant, want->variant, arch))
        return 2;
    const char *mine = *want->variant ? want->variant : usual_variant(arch);
    return sw_streq(arch, "arm") && strcmp(variant, mine) < 0 ? 1 : !*want->variant;
}

static char *list_platforms(struct json_object *manifests)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(manifests) && i < MAX_LISTED; i++) {
        struct json_object *p = sw_json_find(sw_json_at(manifests, i), "platform", NULL);
        const char *os = sw_json_str(p, "", "os", NULL);
        const char *variant = sw_json_str(p, "", "variant", NULL);
        if (!*os || sw_streq(os, "unknown")) /* attestations */
            continue;
        char *longer = sw_printf("%s%s%s/%s%s%s", text, *text ? ", " : "", os,
                                 sw_json_str(p, "", "architecture", NULL), *variant ? "/" : "",
                                 variant);
        free(text);
        text = longer;
    }
    return text;
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
    if (!best) {
        SW_AUTO_CHARS *there = list_platforms(manifests);
        return sw_err_set(err, SW_NOTFOUND, "there is no image for %s, only for %s", platform,
                          *there ? there : "none");
    }
    *digest = sw_json_str(best, "", "digest", NULL);
    return 0;
}

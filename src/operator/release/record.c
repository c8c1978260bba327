/* A release's JSON as Helm packs it: gzip, then base64. */
#include "operator/release/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <json-c/json.h>

#include "data/data.h"
#include "data/json/stream.h"
#include "data/text/base64.h"
#include "kube/kube.h"
#include "operator/account/account.h"

enum { GZIP = 16 + MAX_WBITS, MAX_UNPACKED = 64 << 20, MAX_RECORD = 16 << 20 };

char *sw_release_pack(struct json_object *release)
{
    size_t len, packed_len;
    SW_AUTO_CHARS *text = sw_json_text(release, SW_JSON_SORTED, &len);
    z_stream z = { .next_in = (Bytef *)text, .avail_in = (uInt)len };
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* no memory */
    size_t cap = deflateBound(&z, len);
    SW_AUTO_CHARS *packed = sw_alloc(cap);
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)cap;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort(); /* there is room for all of it */
    (void)deflateEnd(&z);
    return sw_base64_encode(packed, z.total_out, &packed_len);
}

struct json_object *sw_release_data(bool in_secret, const char *packed)
{
    struct json_object *data = json_object_new_object();
    size_t len = strlen(packed), twice;
    SW_AUTO_CHARS *again = in_secret ? sw_base64_encode(packed, len, &twice) : NULL;
    sw_json_set_str(data, again ? again : packed, "release", NULL);
    return data;
}

static int keep(void *arg, const char *type SW_UNUSED, struct json_object *object,
                struct sw_err *err SW_UNUSED)
{
    *(struct json_object **)arg = json_object_get(object);
    return 0;
}

/* Read while it is unpacked: a text of 100 KiB may be one of gigabytes. */
static int inflate_into(struct sw_stream *stream, const char *bytes, size_t len, size_t max,
                        struct sw_err *err)
{
    z_stream z = { .next_in = (Bytef *)bytes, .avail_in = (uInt)len };
    if (inflateInit2(&z, GZIP) != Z_OK)
        abort(); /* no memory */
    char piece[16384];
    int rc = Z_OK, code = 0;
    while (rc == Z_OK && code == 0 && z.total_out <= max) {
        z.next_out = (Bytef *)piece;
        z.avail_out = sizeof piece;
        rc = inflate(&z, Z_NO_FLUSH);
        if (rc == Z_OK || rc == Z_STREAM_END)
            code = sw_stream_feed(stream, piece, sizeof piece - z.avail_out, err);
    }
    (void)inflateEnd(&z);
    if (code < 0)
        return code;
    return rc == Z_STREAM_END
               ? sw_stream_end(stream, err)
               : sw_err_set(err, SW_INVALID, "a release that is no gzip, or too big");
}

int sw_release_unpack(const char *text, size_t len, size_t max_bytes, struct json_object **out,
                      struct sw_err *err)
{
    size_t max = max_bytes ? max_bytes : MAX_UNPACKED;
    const struct sw_stream_opts opts = { .kind = SW_STREAM_OBJECT,
                                         .max_item_bytes = max,
                                         .max_tree_bytes = max_bytes };
    SW_AUTO_JSON *doc = NULL;
    size_t packed_len;
    SW_AUTO_CHARS *packed = sw_base64_decode(text, len, &packed_len);
    if (!packed)
        return sw_err_set(err, SW_INVALID, "a release that is no base64");
    SW_AUTO(sw_stream) *stream = sw_stream_new(&opts, keep, &doc);
    int rc = inflate_into(stream, packed, packed_len, max, err);
    if (rc < 0)
        return sw_err_wrap(err, SW_INVALID, "it cannot be read");
    if (sw_stream_is_stripped(doc))
        return sw_err_set(err, SW_INVALID, "it takes more than %zu MiB of memory", max >> 20);
    *out = SW_TAKE(doc);
    return 0;
}

/* ---- records -----------------------------------------------------------------------------------
 */

int64_t sw_release_version(struct json_object *record)
{
    const char *text = sw_obj_label(record, "version");
    return text ? strtoll(text, NULL, 10) : 0;
}

struct json_object *sw_release_newest(struct json_object *list)
{
    struct json_object *best = NULL;
    int64_t newest = 0;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        int64_t version = sw_release_version(sw_json_at(list, i));
        if (version > newest) {
            newest = version;
            best = sw_json_at(list, i);
        }
    }
    return best;
}

int sw_release_of_record(struct json_object *record, struct json_object **out, struct sw_err *err)
{
    const char *text = sw_json_str(record, "", "data", "release", NULL);
    size_t len = strlen(text);
    /* bytes of a Secret are base64 once more */
    SW_AUTO_CHARS *once = sw_streq(sw_obj_kind(record), "Secret")
                              ? sw_base64_decode(text, len, &len)
                              : sw_strdup(text);
    if (!once)
        return sw_err_set(err, SW_INVALID, "release record '%s' is no base64", sw_obj_name(record));
    int rc = sw_release_unpack(once, strlen(once), MAX_RECORD, out, err);
    return rc < 0 ? sw_err_wrap(err, rc, "release record '%s'", sw_obj_name(record)) : 0;
}

struct json_object *sw_release_patch(struct json_object *record, struct json_object *release)
{
    struct json_object *patch = json_object_new_object();
    SW_AUTO_CHARS *packed = sw_release_pack(release);
    (void)json_object_object_add(patch, "data",
                                 sw_release_data(sw_streq(sw_obj_kind(record), "Secret"), packed));
    return patch;
}

const struct sw_kind *sw_release_kind(struct sw_kube *kube, enum sw_releases releases)
{
    if (releases == SW_RELEASES_NONE)
        return NULL;
    return sw_kube_kind_find(kube, "v1", releases == SW_RELEASES_SECRETS ? "Secret" : "ConfigMap");
}

struct sw_kube_request *sw_release_list(struct sw_kube *kube, const struct sw_kind *kind,
                                        const char *ns, const char *name, const char *account,
                                        void (*done)(const struct sw_kube_answer *page, void *arg),
                                        void *arg)
{
    static const char *const fields[] = { "metadata.labels", "metadata.ownerReferences", NULL };
    SW_AUTO_CHARS *selector = sw_printf("owner=helm,name=%s", name);
    return sw_kube_list(
        kube, kind, ns,
        account ? REQUEST_BY(account, .label_selector = selector, .fields = fields, .retries = 4)
                : REQUEST_OWN(RECORDS, .label_selector = selector, .fields = fields, .retries = 4),
        done, arg);
}

/* Others may put the labels on any object that they may write. */
static bool is_record(struct json_object *item)
{
    enum { MAX_VERSION = 1000000000 };
    const char *name = sw_obj_label(item, "name");
    int64_t version = sw_release_version(item);
    SW_AUTO_CHARS *want = sw_printf("sh.helm.release.v1.%s.v%" PRId64, name ? name : "", version);
    return version > 0 && version < MAX_VERSION && sw_streq(want, sw_obj_name(item));
}

bool sw_release_list_add(struct json_object *list, const struct sw_kube_answer *page)
{
    for (size_t i = 0; page->code == 0 && i < sw_json_len(page->items); i++)
        if (is_record(sw_json_at(page->items, i)))
            (void)json_object_array_add(list, json_object_get(sw_json_at(page->items, i)));
    return page->code == 0 && page->more;
}

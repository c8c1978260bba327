/* Reads the answers of a registry: manifests, blobs, tags, errors. */
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "chart/registry/call.h"
#include "data/json/json.h"
#include "data/json/path.h"

enum { MAX_PAGES = 100 };

/* The registry's message, from {"errors": [{"code", "message"}]}. The caller's; NULL: none. */
static char *error_message(struct sw_registry_call *c)
{
    SW_AUTO_JSON *doc = NULL;
    if (sw_json_parse(c->body->buf, (size_t)c->body->bpos, NULL, &doc, NULL) < 0)
        return NULL;
    struct json_object *e = sw_json_at(sw_json_get(doc, "errors"), 0);
    const char *code = sw_json_str(e, "", "code", NULL);
    const char *message = sw_json_str(e, "", "message", NULL);
    return *code || *message ? sw_printf("%.80s%s%.200s", code, *message ? ": " : "", message)
                             : NULL;
}

static void on_bad_status(struct sw_registry_call *c, int64_t retry_after_ms)
{
    SW_AUTO_CHARS *message = error_message(c);
    const char *more = message ? message : "", *colon = message ? ": " : "";
    static const char *const missing[] = { [CALL_CHECK] = "there is no such image",
                                           [CALL_MANIFEST] = "there is no such image",
                                           [CALL_BLOB] = "there is no such layer",
                                           [CALL_TAGS] = "there is no such repository" };
    SW_AUTO_CHARS *logins = sw_logins_sources(c->logins);
    int status = c->status;
    if (status == 404) {
        call_refuse(c, SW_NOTFOUND, false, "%s%s%s", missing[c->kind], colon, more);
    } else if (status == 401 || status == 403) {
        struct sw_login login;
        const struct sw_image_ref *ref = &c->sources.items[c->at].ref;
        if (sw_logins_find(c->logins, ref->host, ref->repo, &login))
            call_refuse(c, SW_FORBIDDEN, false,
                        "the registry refuses the login of %s (HTTP %d%s%s)", login.source, status,
                        colon, more);
        else
            call_refuse(
                c, SW_FORBIDDEN, false,
                "the registry requires a login (HTTP %d%s%s), and there is none for it in: %s",
                status, colon, more, logins);
    } else if (status == 429 || status >= 500) {
        if (retry_after_ms > c->reg->opts.retry_ms && c->n_tries < c->reg->opts.retries) {
            c->n_tries++;
            call_forget_answer(c);
            sw_timer_set(c->timer, retry_after_ms > MAX_RETRY_MS ? MAX_RETRY_MS : retry_after_ms);
            return;
        }
        call_refuse(c, SW_UNAVAILABLE, true, "HTTP %d%s%s", status, colon, more);
    } else {
        call_refuse(c, SW_INVALID, false, "HTTP %d%s%s", status, colon, more);
    }
}

const char *call_wanted_digest(const struct sw_registry_call *c)
{
    return c->digest ? c->digest : c->ref.digest;
}

static void on_manifest(struct sw_registry_call *c)
{
    SW_ERR(err);
    SW_AUTO_CHARS *digest = digester_end(&c->digester);
    const char *wanted = call_wanted_digest(c);
    bool comparable = c->header_digest && sw_starts_with(c->header_digest, c->digester.algorithm);
    if (wanted ? !sw_streq(digest, wanted) : comparable && !sw_streq(digest, c->header_digest)) {
        call_refuse(c, SW_INVALID, false, "the manifest that came is %s, not %s", digest,
                    wanted ? wanted : c->header_digest);
        return;
    }
    SW_AUTO_JSON *doc = NULL;
    enum manifest_form form;
    const char *chosen = NULL; /* the platform's manifest of an index */
    int rc = manifest_read(c->body->buf, (size_t)c->body->bpos, c->media_type, &doc, &form, &err);
    if (rc == 0 && form == MANIFEST_INDEX && c->platform)
        rc = manifest_choose(doc, c->platform, &chosen, &err);
    if (rc < 0) {
        call_failed(c, rc, false, &err);
    } else if (chosen && c->digest) {
        call_refuse(c, SW_INVALID, false, "an index within an index");
    } else if (chosen) {
        c->digest = sw_strdup(chosen);
        call_forget_answer(c);
        call_send(c);
    } else {
        call_answer(c, &(struct sw_registry_answer){ .digest = digest,
                                                     .bytes = c->body->buf,
                                                     .len_bytes = (size_t)c->body->bpos,
                                                     .doc = doc });
    }
}

/* A HEAD shows only that an index exists. Its platforms are in its text, which is requested then.
 */
static void on_head(struct sw_registry_call *c)
{
    bool index = c->media_type &&
                 (strstr(c->media_type, "image.index") || strstr(c->media_type, "manifest.list"));
    if (c->platform && (index || !c->media_type)) {
        c->kind = CALL_MANIFEST;
        call_forget_answer(c);
        call_send(c);
        return;
    }
    const char *wanted = call_wanted_digest(c);
    SW_AUTO_CHARS *digest = SW_TAKE(c->header_digest);
    if (!digest && wanted)
        digest = sw_strdup(wanted);
    call_answer(c, &(struct sw_registry_answer){ .digest = digest });
}

static void on_blob_end(struct sw_registry_call *c)
{
    SW_AUTO_CHARS *digest = digester_end(&c->digester);
    if (!sw_streq(digest, c->digest)) {
        call_refuse(c, SW_INVALID, false, "the layer that came is %s, not %s", digest, c->digest);
        return;
    }
    call_answer(c, &(struct sw_registry_answer){ .digest = digest });
}

static void on_tags(struct sw_registry_call *c)
{
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    int rc = sw_json_parse(c->body->buf, (size_t)c->body->bpos,
                           &(struct sw_json_opts){ .file = "tag list" }, &doc, &err);
    if (rc < 0) {
        call_failed(c, rc, false, &err);
        return;
    }
    struct json_object *tags = sw_json_get(doc, "tags");
    for (size_t i = 0; i < sw_json_len(tags); i++)
        (void)json_object_array_add(c->tags, json_object_get(sw_json_at(tags, i)));
    if (c->next_page && ++c->n_pages < MAX_PAGES) {
        call_send(c);
        return;
    }
    SW_AUTO_JSON *all = SW_TAKE(c->tags);
    call_answer(c, &(struct sw_registry_answer){ .doc = all });
}

void call_arrived(struct sw_registry_call *c, int64_t retry_after_ms)
{
    if (c->status != 200)
        on_bad_status(c, retry_after_ms);
    else if (c->kind == CALL_CHECK)
        on_head(c);
    else if (c->kind == CALL_MANIFEST)
        on_manifest(c);
    else if (c->kind == CALL_BLOB)
        on_blob_end(c);
    else
        on_tags(c);
}

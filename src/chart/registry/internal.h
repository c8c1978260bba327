#pragma once
/* internal: what the sources of this module share. */
#include <json-c/json.h>

#include "base/openssl.h"
#include "chart/registry/registry.h"
#include "net/http/http.h"

/* ---- what a 401 asks for (challenge.c) ----------------------------------------------------------
 */

/** The WWW-Authenticate header's challenge that can be met: Bearer before Basic. */
struct challenge {
    bool bearer, basic;
    char *realm, *service, *scope; /* Bearer's; NULL where not said */
};
/** Read one header value; several challenges may stand in it. Adds to @out; call
 * challenge_done(). */
void challenge_read(const char *header, struct challenge *out);
void challenge_done(struct challenge *c);

/* ---- manifests (manifest.c) ---------------------------------------------------------------------
 */

#define ACCEPT_MANIFESTS                                                                           \
    "Accept: application/vnd.oci.image.index.v1+json, "                                            \
    "application/vnd.docker.distribution.manifest.list.v2+json, "                                  \
    "application/vnd.oci.image.manifest.v1+json, "                                                 \
    "application/vnd.docker.distribution.manifest.v2+json"

enum manifest_form { MANIFEST_IMAGE, MANIFEST_INDEX };

/** Read a manifest. @media_type: the answer's header; may be NULL. @*doc is the caller's.
 * @return 0 | SW_INVALID */
int manifest_read(const char *text, size_t len, const char *media_type, struct json_object **doc,
                  enum manifest_form *form, struct sw_err *err);
/** The digest of the manifest for @platform ("linux/arm/v7") in an index, borrowed from it.
 * @return 0 | SW_NOTFOUND: the platforms that it has are named | SW_INVALID */
int manifest_choose(struct json_object *index, const char *platform, const char **digest,
                    struct sw_err *err);

/* ---- digests (digest.c) -------------------------------------------------------------------------
 */

/** A digest that is being computed. */
struct digester {
    EVP_MD_CTX *ctx;
    const char *algorithm; /* "sha256" */
};
/** By the algorithm of @digest ("sha512:..."); NULL: sha256. */
void digester_init(struct digester *d, const char *digest);
void digester_add(struct digester *d, const char *bytes, size_t len);
/** "sha256:<hex>", the caller's. */
char *digester_end(struct digester *d);
void digester_done(struct digester *d);

/* ---- places and tokens (endpoint.c)
 * ----------------------------------------------------------------
 */

/** One registry host that is talked to, with its certificates. Kept while calls use it. */
struct place {
    struct place *next;
    char *host; /* as in references */
    bool insecure, plain, stale;
    int n_users;
    struct sw_http_tls *tls;
    struct sw_http *http;
};

struct token {
    struct token *next;
    char *key; /* place, scope and who */
    char *value;
    int64_t until_ms;
};

struct cached {
    struct cached *next;
    char *layer, *path;
    char *bytes; /* NULL: the layer has no such file */
    size_t len;
};

struct sw_registry {
    struct sw_loop *loop;
    struct sw_registry_opts opts; /* defaults filled in; strings owned */
    struct sw_mirrors *mirrors;
    char *ca_bundle;
    struct json_object *ca_by_host;
    struct place *places;
    struct token *tokens;
    int n_tokens;
    struct cached *cached; /* newest first */
    int n_cached;
    struct sw_registry_call *calls;
    struct sw_registry_file *files;
};

/** A place to talk to; place_leave() when done. @return 0 | SW_INVALID: its CA */
int place_enter(struct sw_registry *reg, const char *host, bool insecure, struct place **out,
                struct sw_err *err);
void place_leave(struct sw_registry *reg, struct place *place);
void places_free(struct sw_registry *reg);
/** "https://reg:5000"; docker.io's is another host than its name. The caller's. */
char *place_address(const struct place *place);

const char *token_find(struct sw_registry *reg, const char *key);
void token_put(struct sw_registry *reg, const char *key, const char *value, int64_t lives_ms);
void token_drop(struct sw_registry *reg, const char *key);
void tokens_free(struct sw_registry *reg);

/* ---- files in layers (layer.c, file.c) ----------------------------------------------------------
 */

struct layer;
/** How the search in a layer ended. Borrowed. */
struct layer_result {
    int code; /* 0 | SW_NOTFOUND: the layer has no such file | SW_GONE: it takes the file away |
                 SW_INVALID */
    const char *words;
    const char *bytes;
    size_t len;
};
/** Look for @path in a layer whose bytes are fed. @on_room: layer_feed() takes again. @on_result
 * comes once, on the loop, after layer_end() or when the layer cannot be read. */
struct layer *layer_open(struct sw_loop *loop, const char *path, size_t max_bytes,
                         void (*on_room)(void *arg),
                         void (*on_result)(const struct layer_result *result, void *arg),
                         void *arg);
/** @return 0: taken whole | SW_PENDING: no room, nothing taken */
int layer_feed(struct layer *l, const char *bytes, size_t len);
void layer_end(struct layer *l);
void layer_close(struct layer *l);

void files_free(struct sw_registry *reg);
void cached_free(struct sw_registry *reg);

#pragma once
/* internal: challenges, manifests, digests, the HTTP clients and tokens of registries, and files in
 * layers. */
#include <json-c/json.h>

#include "base/openssl.h"
#include "chart/registry/registry.h"
#include "net/http/http.h"

/* ---- the challenge of a 401 (challenge.c) -------------------------------------------------------
 */

/** The WWW-Authenticate header's challenge: Bearer is preferred to Basic. */
struct challenge {
    bool bearer, basic;
    char *realm, *service, *scope; /* Bearer's; NULL: not given; owned */
};
/** Add the challenges of one header's value, of which there may be several, to @out. */
void challenge_read(const char *header, struct challenge *out);
/** Free its strings. Twice is harmless. */
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

/** A digest that is computed while bytes arrive. Zero-initialised it is empty. */
struct digester {
    EVP_MD_CTX *ctx;
    const char *algorithm; /* "sha256" */
};
/** By the algorithm of @digest ("sha512:..."); NULL: sha256. */
void digester_init(struct digester *d, const char *digest);
/** Add bytes. */
void digester_add(struct digester *d, const char *bytes, size_t len);
/** "sha256:<hex>", the caller's. */
char *digester_end(struct digester *d);
/** Free it. Twice is harmless. */
void digester_done(struct digester *d);

/* ---- endpoints and tokens (endpoint.c)
 * ------------------------------------------------------------
 */

/** One registry host with its certificates and connections. Kept for later calls, until its
 * certificates change. */
struct endpoint {
    struct endpoint *next;
    char *host;    /* as in references */
    bool insecure; /* plain HTTP and unverified certificates are allowed */
    bool plain;    /* it speaks no TLS */
    bool stale;    /* its certificates have changed: freed without users */
    int n_users;   /* calls */
    struct sw_http_tls *tls;
    struct sw_http *http;
};

/** A bearer token. Strings are owned. */
struct token {
    struct token *next;
    char *key; /* host, repository and login */
    char *value;
    int64_t until_ms; /* on the loop's clock */
};

/** A file that was searched in a layer. Strings are owned. */
struct cached {
    struct cached *next;
    char *layer, *path; /* the layer's digest; the file's path */
    char *bytes;        /* NULL: the layer has no such file */
    size_t len;
};

/** See registry.h. */
struct sw_registry {
    struct sw_loop *loop;
    struct sw_registry_opts opts; /* defaults filled in; strings owned */
    struct sw_mirrors *mirrors;
    char *ca_bundle;
    struct json_object *ca_by_host;
    struct endpoint *endpoints;
    struct token *tokens;
    int n_tokens;
    struct cached *cached; /* newest first */
    int n_cached;
    struct sw_registry_call *calls;
    struct sw_registry_file *files;
};

/** The endpoint for @host; endpoint_leave() when it is not used any more. @return 0 | SW_INVALID:
 * its CA
 */
int endpoint_enter(struct sw_registry *reg, const char *host, bool insecure, struct endpoint **out,
                   struct sw_err *err);
/** One user less. NULL is accepted. */
void endpoint_leave(struct sw_registry *reg, struct endpoint *endpoint);
/** Free all endpoints. */
void endpoints_free(struct sw_registry *reg);
/** "https://reg:5000"; of docker.io it is registry-1.docker.io. The caller's. */
char *endpoint_url(const struct endpoint *endpoint);
/** Whether it is on this machine, by a loopback address or as "localhost". */
bool endpoint_is_local(const struct endpoint *endpoint);

/** The token under @key; NULL: none, or it has expired. Borrowed. */
const char *token_find(struct sw_registry *reg, const char *key);
/** Cache a token for @lives_ms; of too many the oldest one is removed. */
void token_put(struct sw_registry *reg, const char *key, const char *value, int64_t lives_ms);
/** Remove the token under @key, if there is one. */
void token_drop(struct sw_registry *reg, const char *key);
/** Remove all tokens. */
void tokens_free(struct sw_registry *reg);

/* ---- files in layers (layer.c, file.c) ----------------------------------------------------------
 */

/** A layer whose bytes are fed, and the search for a file in it. */
struct layer;
/** How the search in a layer ended. Borrowed. */
struct layer_result {
    int code; /* 0 | SW_NOTFOUND: the layer has no such file | SW_GONE: it deletes the file |
                 SW_INVALID */
    const char *message; /* of a failure */
    const char *bytes;   /* of the file */
    size_t len;
};
/** Search @path in a layer. @on_room: layer_feed() has room again. @on_result is called once, on
 * the loop, after layer_end() or when the layer cannot be read. */
struct layer *layer_open(struct sw_loop *loop, const char *path, size_t max_bytes,
                         void (*on_room)(void *arg),
                         void (*on_result)(const struct layer_result *result, void *arg),
                         void *arg);
/** Feed the next bytes. @return 0: all were taken | SW_PENDING: no room, none was taken */
int layer_feed(struct layer *l, const char *bytes, size_t len);
/** All bytes were fed. */
void layer_end(struct layer *l);
/** No callback runs from here on. NULL is accepted. */
void layer_close(struct layer *l);

/** Remember what a layer has at @path: @bytes, copied; NULL: no such file. Of many the oldest is
 * forgotten. */
void cached_add(struct sw_registry *reg, const char *layer, const char *path, const char *bytes,
                size_t len);
/** Close all searches for files. */
void files_free(struct sw_registry *reg);
/** Free the cache of files found in layers. */
void cached_free(struct sw_registry *reg);

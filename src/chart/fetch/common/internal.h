#pragma once
/* The inside of fetch. */
#include "chart/fetch/common/cache.h"
#include "chart/fetch/fetch.h"

struct sw_http_tls;

/** A git repository as far as it was fetched: objects in a folder of its own. */
struct git_store {
    char *remote;
    char *commit;
    char *dir;
    bool is_complete;
    struct git_store *next;
};

struct sw_fetcher {
    struct sw_fetch_opts opts;
    struct sw_cache *cache;
    int64_t deadline_ms;     /* on the monotonic clock; 0: nothing was asked for yet */
    char *first_host;        /* "scheme://host:port" that credentials are for; NULL: none yet */
    struct sw_http_tls *tls; /* NULL: not read yet */
    struct git_store *stores;
    struct sw_fetched *got; /* strings owned */
    size_t n_got, cap_got;
    bool cached;  /* what is being got now came from the cache */
    char *signer; /* who signed it; owned */
};

enum { MAX_GETS = 256 }; /* charts of one recipe */

/** Milliseconds left; @return SW_UNAVAILABLE where there are none. */
int fetch_time_left(struct sw_fetcher *f, int64_t *ms, struct sw_err *err);
/** May credentials be given to this host ("https://host:port")? The first one asked. */
bool fetch_is_trusted(struct sw_fetcher *f, const char *host);

/** An address without the password that may be in it, heap. */
char *fetch_redact(const char *url);

/** By scheme; each puts the source in front of its words. */
int fetch_repository(struct sw_fetcher *f, const struct sw_recipe_ask *ask,
                     struct sw_recipe_got *got, struct sw_err *err);
int fetch_oci(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
              struct sw_err *err);
int fetch_git(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
              struct sw_err *err);
int fetch_config_map(struct sw_fetcher *f, const struct sw_recipe_ask *ask,
                     struct sw_recipe_got *got, struct sw_err *err);

void fetch_git_done(struct sw_fetcher *f);

/** What wants signatures verified, in the user's words. */
const char *fetch_asked_by(const struct sw_fetcher *f);

struct sw_provenance;
/** Whether the signature holds; who signed is kept. @return as sw_provenance_check() */
int fetch_verify(struct sw_fetcher *f, struct sw_provenance *p, struct sw_err *err);

/** What a downloaded packed chart becomes; @bytes is taken. Its digest must be @digest, where that
 * is not "". @return 0 | SW_INVALID */
int fetch_take_archive(const char *origin, const char *digest, char *bytes, size_t len,
                       struct sw_recipe_got *got, struct sw_err *err);

/** What a GET gave. Zero-initialise; fetch_answer_done(). */
struct fetch_answer {
    char *body; /* NULL: not changed since @etag, @last_modified */
    size_t len;
    char *etag, *last_modified; /* NULL: the server says none */
};
void fetch_answer_done(struct fetch_answer *a);
/** @etag, @last_modified: of what is known, or NULL. @return as sw_fetcher_get(), words without the
 * source's name */
int fetch_http_get(struct sw_fetcher *f, const char *url, const char *etag,
                   const char *last_modified, struct fetch_answer *out, struct sw_err *err);
/** The certificates that auth names, read once. @return 0 | SW_INVALID, SW_NOTFOUND, SW_FORBIDDEN
 */
int fetch_tls(struct sw_fetcher *f, const struct sw_http_tls **out, struct sw_err *err);

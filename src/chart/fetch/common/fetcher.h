#pragma once
/* fetcher: what every source of charts uses of the fetcher: its time and credentials, one HTTP
 * request, and the checks that an archive passes before it becomes a chart. */
#include "chart/fetch/common/cache.h"
#include "chart/fetch/fetch.h"
#include "data/text/url.h"

struct git_store;
struct sw_http_tls;
struct sw_provenance;

/** See fetch.h. */
struct sw_fetcher {
    struct sw_fetch_opts opts;   /* defaults filled in */
    struct sw_fetch_auth auth;   /* of the options as they were given */
    struct sw_cache *cache;      /* owned */
    int64_t deadline_ms;         /* on the monotonic clock; 0: nothing was requested yet */
    struct sw_url_server first;  /* that gets credentials where auth.url is NULL; owned */
    struct sw_http_tls *tls;     /* NULL: not read yet; owned */
    struct sw_http_tls *own_tls; /* the same with the client's certificate */
    struct git_store *stores;    /* owned, see git/git.h */
    struct sw_fetched *got;      /* owned, with its strings */
    size_t n_got, cap_got;
    bool cached;  /* the current chart is from the cache */
    char *signer; /* of the current chart; NULL: not checked; owned */
};

/** Milliseconds until the fetcher's deadline, which begins with the first call.
 * @return 0 | SW_UNAVAILABLE: the deadline has passed */
int fetch_time_left(struct sw_fetcher *f, int64_t *ms, struct sw_err *err);

/** Whether the credentials of the options are for the server of @url. */
bool fetch_is_trusted(struct sw_fetcher *f, const char *url);
/** Whether credentials may leave over a connection to @url, of whatever scheme: with TLS, and with
 * certificates verified, unless the options allow it without. @return 0 | SW_FORBIDDEN, with what
 * would allow it */
int fetch_may_send(const struct sw_fetcher *f, const char *url, struct sw_err *err) SW_CHECKED;
/** The same of the options' user and password, which are for one server. */
int fetch_may_log_in(struct sw_fetcher *f, const char *url, struct sw_err *err) SW_CHECKED;

/** What requires verified signatures, for messages: "--verify", "spec.chart.verify". Borrowed. */
const char *fetch_asked_by(const struct sw_fetcher *f);

/** Check a signature against the fetcher's keyring and keep the signer in f->signer.
 * @return as sw_provenance_check() */
int fetch_verify(struct sw_fetcher *f, struct sw_provenance *p, struct sw_err *err);

/** Hand a downloaded packed chart over in @got. @bytes is taken, even on failure. @digest: what it
 * must be, with or without "sha256:"; "": any. @return 0 | SW_INVALID: another digest */
int fetch_take_archive(const char *origin, const char *digest, char *bytes, size_t len,
                       struct sw_recipe_got *got, struct sw_err *err);

/** The answer to a GET. Zero-initialise; fetch_answer_done(). Strings are owned. */
struct fetch_answer {
    char *body; /* NULL: not modified since @etag, @last_modified */
    size_t len;
    char *etag, *last_modified; /* NULL: the server sent none */
    bool wants_user;            /* it requires a user and a password */
    char *location;             /* of a redirect; NULL: none */
};
/** Free it. Twice is harmless. */
void fetch_answer_done(struct fetch_answer *a);

/** GET @url. @etag, @last_modified: of the copy in the cache, for a conditional request; NULL:
 * none.
 * @return as sw_fetcher_get(); the message does not name the source */
int fetch_http_get(struct sw_fetcher *f, const char *url, const char *etag,
                   const char *last_modified, struct fetch_answer *out, struct sw_err *err);

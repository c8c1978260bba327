#pragma once
/* internal: a transfer, as http.c runs it and setup.c describes it to libcurl. */
#include <curl/curl.h>
#include <sys/queue.h>

#include "net/http/http.h"

/** The number of idle libcurl handles that are kept for reuse. */
enum { SPARE_HANDLES = 16 };

/** The state of a transfer. T_SHUT: the gate has refused it, which is reported in the next turn. */
enum transfer_state { T_PENDING, T_RUNNING, T_SHUT, T_DEAD };
/** Of sw_http_set_gate(), or NULL. */
extern int (*http_gate)(const char *url, struct sw_err *err);

/** One transfer; see http.h. */
struct sw_http_transfer {
    struct sw_http *http;
    TAILQ_ENTRY(sw_http_transfer) in_all;
    enum transfer_state state;
    CURL *easy;
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    struct sw_http_spec spec; /* only numbers and callbacks are used after the start */
    struct sw_timer *whole;
    struct sw_timer *quiet; /* until the status line, then between bytes */
    int status;             /* of the answer whose headers are complete; 0: not yet */
    bool tls;               /* the address asked first is https */
    bool paused, resumed;   /* on_data takes nothing for now; it will again */
    bool passing;           /* the answer now coming is a redirect that will be followed */
    size_t len_bytes;       /* of the body so far */
    int stop_code;          /* set: why on_data, or a timer, ended it */
    struct sw_err stop_err;
    char curl_text[CURL_ERROR_SIZE];
};

/** A call that waits until no callback is running. */
struct deferred {
    SLIST_ENTRY(deferred) next;
    void (*free_fn)(void *p);
    void *p;
};

/** The client; see http.h. */
struct sw_http {
    struct sw_loop *loop;
    struct sw_http_opts opts;
    char *strings[5];            /* owned copies of the options' */
    struct sw_http_tls *own_tls; /* where the user gave none */
    CURLM *multi;
    struct event *timer; /* libcurl's, on the real clock whatever the loop's: see on_curl_timer() */
    int opened_port;     /* to which a connection was opened last; 0: none was */
    int depth;           /* of our frames on the stack */
    bool doomed;
    TAILQ_HEAD(transfer_list, sw_http_transfer) all;
    SLIST_HEAD(deferred_list, deferred) deferred;
    CURL *spare[SPARE_HANDLES];
    int n_spare;
};

/** Set libcurl's options for one request: server, credentials, proxies, TLS, headers, body. */
void sw_http_setup(struct sw_http_transfer *t, const struct sw_http_spec *spec);

/** The proxy through which @t goes, without its password, the caller's; NULL: none. */
char *sw_http_proxy_used(const struct sw_http_transfer *t);

/** Where it is the proxy on the way to @server that made a transfer fail with @rc: set @err and
 * @r's code, and say which. @why: what the system says. @return whether it was */
bool sw_http_explain_proxy(const struct sw_http_transfer *t, const char *server, CURLcode rc,
                           const char *why, struct sw_http_result *r, struct sw_err *err);

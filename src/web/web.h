#pragma once
/* web: the page that shows SpecialResources, nodes and slices as they change: an HTTP server of its
 * own, the files of the page, and the watches that it is fed with. It only reads. The files are for
 * everybody who can connect; what the cluster holds is for whoever has the token. Opening a browser
 * is left to the command. */
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;
struct sw_kube_config;
struct sw_loop;
struct sw_web;

/** The files of the page: "index.html", "app.js", ...; ended by a NULL name. */
extern const struct sw_embedded sw_web_page[];

/** The zero value is the default of each; everything is borrowed until sw_web_close(). */
struct sw_web_opts {
    const struct sw_kube_config *config; /* the cluster, and who reads it */
    int port;                            /* on loopback; 0: any free one */
    const char *version;                 /* of the program, as the page shows it */
    /** NULL: on loopback, by HTTP, for who has the token of sw_web_url(). Else where it listens, by
     * HTTPS, for whom the API server lets get SW_WEB_PATH (TokenReview, SubjectAccessReview); the
     * cluster is only watched while somebody has the page open. */
    const char *address;
    const char *cert_dir; /* with its tls.crt and tls.key; NULL: one that signs itself */
};

/** What SubjectAccessReviews ask about: the verb get of this path. */
#define SW_WEB_PATH "/dashboard"

/** Listen, and open the watches on @loop.
 * @return 0 | SW_INVALID: the address | as sw_kube_new() | SW_UNAVAILABLE, SW_FORBIDDEN (the
 * address) Pinned by test/emulator/web/dashboard_test.sh,
 * test/emulator/web/dashboard_service_test.sh. */
int sw_web_open(struct sw_loop *loop, const struct sw_web_opts *opts, struct sw_web **out,
                struct sw_err *err) SW_CHECKED;
/** The page's address with its token, which a browser does not send on: "http://127.0.0.1:1234/
 * #token=...". Borrowed; NULL: it has none. */
const char *sw_web_url(const struct sw_web *web);
/** The port that it listens on. */
int sw_web_port(const struct sw_web *web);
/** Ends all connections. NULL is accepted. */
void sw_web_close(struct sw_web *web);

/** What a cluster holds, read once: {"about", "objects": [[kind, key, object]...], "logs"}. Runs
 * @loop until all is there, or *@stop is set, or @timeout_ms have passed. @name: the only resource;
 * NULL: all. @*document is the caller's.
 * @return 0 | as sw_kube_new() | SW_NOTFOUND: no such resource | SW_UNAVAILABLE */
int sw_web_read(struct sw_loop *loop, const struct sw_web_opts *opts, const char *name,
                int64_t timeout_ms, const int *stop, struct json_object **document,
                struct sw_err *err) SW_CHECKED;
/** The same of documents at hand, SpecialResources and Events, such as a recording's; @source says
 * where they are from. The caller's. */
struct json_object *sw_web_document(const char *source, int64_t now_ms,
                                    struct json_object *resources, struct json_object *events);
/** The page with a document of these functions as one file of HTML, heap. It asks no server for
 * anything, and its policy lets in no other script or style. Pinned by
 * test/emulator/web/report_test.sh. */
char *sw_web_report(struct json_object *document, size_t *len_bytes);

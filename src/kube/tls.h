#pragma once
/* tls: the certificates of one configuration, read and checked once, given to each connection. */
#include <curl/curl.h>

struct sw_err;
struct sw_kube_config;
struct sw_tls;

/** Read CA, certificate and key, from the configuration's data or files.
 * @return 0 | SW_INVALID (not PEM, key of another certificate: the field is named) | SW_NOTFOUND,
 * SW_FORBIDDEN (a file) */
int sw_tls_new(const struct sw_kube_config *config, struct sw_tls **out, struct sw_err *err);
void sw_tls_free(struct sw_tls *tls);

/** Set a transfer up. */
void sw_tls_setup(const struct sw_tls *tls, CURL *easy);
/** Words for a connection that TLS refused: what is wrong and which setting would mend it. */
void sw_tls_explain(const struct sw_tls *tls, const char *url, CURLcode rc, const char *curl_text,
                    struct sw_err *err);

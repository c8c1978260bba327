#pragma once
/* tls: what the transfers ask of the certificates. */
#include "net/http/library.h"

struct sw_err;
struct sw_http_tls;

/** Set a transfer up. */
void sw_http_tls_setup(const struct sw_http_tls *tls, CURL *easy);
/** Words for a connection that TLS refused: what is wrong and which setting would mend it. */
void sw_http_tls_explain(const struct sw_http_tls *tls, const char *url, CURLcode rc,
                         const char *curl_text, struct sw_err *err);

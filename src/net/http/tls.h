#pragma once
/* tls: how transfers use the certificates. */
#include "net/http/library.h"

struct sw_err;
struct sw_http_tls;

/** Set libcurl's TLS options for a transfer. */
void sw_http_tls_setup(const struct sw_http_tls *tls, CURL *easy);
/** The message for a failed TLS connection: the cause, and the setting that would correct it. */
void sw_http_tls_explain(const struct sw_http_tls *tls, const char *url, CURLcode rc,
                         const char *curl_text, struct sw_err *err);

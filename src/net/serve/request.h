#pragma once
/* request: requests out of a connection's bytes, HTTP/1.1 with pipelining. Internal to serve. */
#include <stdbool.h>
#include <stddef.h>

#include "net/serve/serve.h"

/** Where the reading of one request stands. Zero it for each. */
struct sw_serve_progress {
    size_t head_len; /* 0: not complete yet */
    size_t scanned;  /* bytes without the end of the head */
    bool chunked;
    bool wants_continue; /* "Expect: 100-continue", until it was answered */
    size_t content_len;
    size_t chunk_at, decoded_end; /* chunked: the next chunk; the end of what is decoded */
};

/** What a request may have, in bytes. */
struct sw_serve_limits {
    size_t head, body;
};

/** Look for a request at the beginning of @bytes, which are not a blank line. Chunked bodies are
 * decoded in place.
 * @return 1: @out is set; 0: more is needed; else a status to refuse it with, and to close after:
 * 400 | 413 | 431 | 501 | 505
 * Source: RFC 9112. Pinned by test/unit/net/serve_request_test.c. */
int sw_serve_next(struct sw_serve_progress *p, char *bytes, size_t len_bytes,
                  struct sw_serve_limits limits, struct sw_serve_request *out);

/** "Not Found"; "Unknown" for a status that no server here sends. Source: Go's http.StatusText. */
const char *sw_serve_reason(int status);

#pragma once
/* request: requests out of a connection's bytes, HTTP/1.1 with pipelining. Internal to serve. */
#include <stdbool.h>
#include <stddef.h>

#include "net/serve/serve.h"

enum { SW_SERVE_MAX_HEAD = 16 * 1024 };

/** Where the reading of one request stands. Zero it for each. */
struct sw_serve_progress {
    size_t head_len; /* 0: not complete yet */
    size_t scanned;  /* bytes without the end of the head */
    bool chunked;
    bool wants_continue; /* "Expect: 100-continue", until it was answered */
    size_t content_len;
    size_t chunk_at, decoded_end; /* chunked: the next chunk; the end of what is decoded */
};

/** Look for a request at the beginning of @bytes. Chunked bodies are decoded in place.
 * @return 1: @out is set; 0: more is needed; else a status to refuse it with, and to close after:
 * 400 | 413 | 431 | 501 | 505 */
int sw_serve_next(struct sw_serve_progress *p, char *bytes, size_t len_bytes, size_t max_body,
                  struct sw_serve_request *out);

/** "Payload Too Large" */
const char *sw_serve_reason(int status);

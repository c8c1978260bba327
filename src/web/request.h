#pragma once
/* request: what is read of a request to the page's server. Internal to web. */
#include <stdbool.h>

struct sw_serve_request;

/** Is it for @path? */
bool web_path_is(const struct sw_serve_request *r, const char *path);
/** The value of @name in the query of @r; heap. NULL: it is not there. */
char *web_parameter_of(const struct sw_serve_request *r, const char *name);
/** The token of who asks, heap, for web_token_free(); NULL: there is none. The page sends it in a
 * header of its own: an API server that is between (its proxy of Services) takes Authorization for
 * itself, and sends it on to nobody. */
char *web_token_of(const struct sw_serve_request *r);
/** Wipes it. NULL is accepted. */
void web_token_free(char *token);
/** Compares in a time that does not tell how much is right. */
bool web_equals_secret(const char *a, const char *secret);

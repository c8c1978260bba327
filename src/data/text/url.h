#pragma once
/* url: URLs of any scheme as people write them: what of them may be shown, and whose they are. What
 * is sent to a server is parsed by the library that sends it (net/http). */
#include <stdbool.h>

/** @url with *** for each password, token and value of its query that it may hold, for messages;
 * the caller's. A name alone before the '@' is shown for SSH only: elsewhere it may be a token. In
 * the query only ref, path and version are shown. Works on what is no URL, too: upper case, unknown
 * schemes, none at all. Pinned by test/unit/data/data_url_test.c. */
char *sw_url_shown(const char *url);
/** Overwrite the passwords in all URLs of a text with '*'; of their queries nothing. */
void sw_url_blank(char *text);

/** A server: what a credential belongs to. */
struct sw_url_server {
    char *host; /* lower case; of an IPv6 address with its brackets; owned */
    char *port; /* as written, else the scheme's; NULL: neither; owned */
};
/** The server of a URL, or of "host" or "host:port". @return whether there is one; else @out is
 * untouched */
bool sw_url_server(const char *text, struct sw_url_server *out);
/** Free the strings. Twice is harmless. */
void sw_url_server_done(struct sw_url_server *server);
/** Whether both are the same; a port that is NULL is any. */
bool sw_url_server_is(const struct sw_url_server *a, const struct sw_url_server *b);

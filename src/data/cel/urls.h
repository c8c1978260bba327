#pragma once
/* urls: Kubernetes' url(), and equality of what is its own. Internal to cel. */
#include "data/cel/value.h"

/** The pieces of a URL; in the arena. */
struct cel_url {
    const char *text, *scheme, *host, *hostname, *port, *path, *query;
};

/** Read a URL as Go's url.ParseRequestURI() takes it. @return NULL: it is none */
const struct cel_url *sw_cel_read_url(struct cel_run *x, const char *text);

#pragma once
/* listen: the socket at which a server waits for connections. Internal to serve. */
#include <event2/listener.h>

#include "base/base.h"
#include "base/loop.h"

/** Accept connections at @address (NULL or 0.0.0.0: all, IPv6 ones too) and @port (0: any free
 * one); @on_accept is called with @arg on @loop.
 * @return 0 | SW_INVALID (no address, no port) | SW_UNAVAILABLE, SW_FORBIDDEN */
int sw_serve_listen(struct sw_loop *loop, const char *address, int port,
                    evconnlistener_cb on_accept, void *arg, struct evconnlistener **out,
                    struct sw_err *err) SW_CHECKED;
/** Its port; 0: unknown. */
int sw_serve_listener_port(struct evconnlistener *listener);

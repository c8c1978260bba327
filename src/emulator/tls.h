#pragma once
/* tls: a CA of the cluster's own, and the API server's certificate. Internal to the emulator. */
#include "base/base.h"

/** PEM texts, owned; zero-initialise. */
struct sw_emulator_tls {
    char *ca, *cert, *key;
    char *admin_token;
};

/** Make them, for the names that pods and this machine's clients have for an API server, and for
 * the address of @listen (NULL: 127.0.0.1). @return 0 | SW_INVALID */
int sw_emulator_tls_init(struct sw_emulator_tls *tls, const char *listen,
                         struct sw_err *err) SW_CHECKED;
/** Free them. */
void sw_emulator_tls_done(struct sw_emulator_tls *tls);

/* What the flags of a program say about its server. */
#include "net/serve/serve.h"

struct sw_serve_opts sw_serve_flags_opts(const struct sw_serve_flags *flags)
{
    return (struct sw_serve_opts){
        .address = flags->listen,
        .port = flags->port,
        .tls = flags->tls ? &sw_serve_openssl : NULL,
        .cert_file = flags->cert,
        .key_file = flags->key,
        .ca_file = sw_text_or(flags->ca, NULL),
        .min_version = flags->min_version,
        .cipher_suites = flags->suites,
        .trusted_peers = flags->trusted,
        .drain_ms = (int64_t)flags->drain_s * 1000,
    };
}

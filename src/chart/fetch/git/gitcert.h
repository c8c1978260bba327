#pragma once
/* gitcert: a second check of a server's certificate. The TLS library that some builds of libgit2
 * have (Mbed TLS 2) compares names only: a server that is reached by its address is refused,
 * whatever its certificate says. */
#include <stdbool.h>
#include <stddef.h>

/** Whether @host is an address, and the certificate (DER) is of that address, valid now, and issued
 * by @ca_file (PEM; NULL: the system's CAs) without anything in between. */
bool git_cert_is_of_address(const void *der, size_t len, const char *host, const char *ca_file);

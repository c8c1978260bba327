#pragma once
/* Random bytes of a render: the system's, or a seeded generator's, so that a test can repeat them.
 * Keys and salts are not made of these but of OpenSSL's. */
#include "chart/template/lang/function.h"

/** 64 random bits. */
uint64_t sw_random_u64(struct exec *x);
/** A number below @n, each as likely as the others. */
uint64_t sw_random_below(struct exec *x, uint64_t n);
/** Fill @out with @n random bytes. */
void sw_random_bytes(struct exec *x, unsigned char *out, size_t n);

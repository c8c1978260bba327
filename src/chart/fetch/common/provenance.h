#pragma once
/* provenance: whether a packed chart is the one that somebody signed. A .prov file is a text that
 * `helm package --sign` wrote and signed with OpenPGP: the chart's Chart.yaml, "...", and the
 * digest of the archive. The signature is gpgv's to check; what it does not vouch for is not looked
 * at. */
#include <stddef.h>

#include "base/base.h"

struct sw_provenance {
    const char *keyring; /* whose signatures count; NULL: pubring.gpg or pubring.kbx of ~/.gnupg */
    const char *name;    /* the archive's file name; NULL: the text must name just one */
    const char *archive;
    size_t archive_len;
    const char *text; /* of the .prov file */
    size_t text_len;
};

/** @*signer: who signed, as gpgv says it; the caller's.
 * @return 0 | SW_INVALID: not signed by somebody in the keyring, or another archive was |
 * SW_NOTFOUND: there is no keyring | SW_UNAVAILABLE: gpgv cannot be run Source: Helm 3,
 * pkg/provenance/sign.go. Pinned by test/emulator/chart/provenance_test.sh. */
int sw_provenance_check(const struct sw_provenance *p, char **signer,
                        struct sw_err *err) SW_CHECKED;

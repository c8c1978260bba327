#pragma once
/* provenance: the signature of a packed chart. `helm package --sign` writes a .prov file, a text
 * signed with OpenPGP: the chart's Chart.yaml, "...", and the digest of the archive. gpgv checks
 * the signature; only the text that gpgv puts out as signed is read. */
#include <stddef.h>

#include "base/base.h"

/** What to check. All is borrowed for the call. */
struct sw_provenance {
    const char *keyring; /* file with the keys that are trusted; NULL: pubring.gpg or pubring.kbx of
                            ~/.gnupg */
    const char *name;    /* the archive's file name; NULL: the text must name just one */
    const char *archive;
    size_t archive_len;
    const char *text; /* of the .prov file */
    size_t text_len;
};

/** Check the signature and the archive's digest in it. @*signer: the user ID of the key, as gpgv
 * prints it; the caller's.
 * @return 0 | SW_INVALID: not signed by a key in the keyring, or the signature is of another
 * archive | SW_NOTFOUND: there is no keyring | SW_UNAVAILABLE: gpgv cannot be run Source: Helm 3,
 * pkg/provenance/sign.go. Pinned by test/emulator/chart/provenance_test.sh. */
int sw_provenance_check(const struct sw_provenance *p, char **signer,
                        struct sw_err *err) SW_CHECKED;

/** Check a text that was signed with OpenPGP (`gpg --clearsign`), of at most 1 MiB. @keyring: as in
 * struct sw_provenance. @*out: what is signed, @*out_len bytes of it and a NUL; @*signer: the user
 * ID of the key. Both are the caller's.
 * @return as sw_provenance_check() */
int sw_signed_text(const char *keyring, const char *text, size_t len, char **out, size_t *out_len,
                   char **signer, struct sw_err *err) SW_CHECKED;

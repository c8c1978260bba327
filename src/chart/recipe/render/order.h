#pragma once
/* order: which kinds are applied before which. */

/** Compare kinds: known ones by the table, unknown ones after them by name; like strcmp.
 * Source: Helm's InstallOrder, with what the Special Resource Operator puts before Service
 * (Certificates, Issuer, SecurityContextConstraints, ImageStream, BuildConfig) and with the kinds
 * that later versions of Helm know. Pinned by test/unit/chart/recipe_parts_test.c. */
int sw_kind_order(const char *a, const char *b);

/** The kind's row in the table; all unknown kinds have the same, the last. */
unsigned sw_kind_rank(const char *kind);

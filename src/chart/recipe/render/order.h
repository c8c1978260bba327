#pragma once
/* order: which kinds are applied before which. */

/** The kind's place in the order of installation, from 0; all unknown kinds have the same, the
 * last. Source: Helm's InstallOrder, with what the Special Resource Operator puts before Service
 * (Certificates, Issuer, SecurityContextConstraints, ImageStream, BuildConfig) and with the kinds
 * that later versions of Helm know. Pinned by test/unit/chart/recipe_parts_test.c. */
unsigned sw_kind_rank(const char *kind);

#pragma once
/* explain_annotations: the annotations that `slipway explain annotation` knows besides those of
 * manifests and charts, which have tables of their own: of a SpecialResource, of Helm, of DAS, and
 * those that slipway sets. */

/** One of them. */
struct explained_annotation {
    const char *name;
    const char *of;    /* "an annotation of a SpecialResource" */
    const char *value; /* an example; NULL: slipway sets it, there is nothing to write */
    const char *doc;
};
/** All, by name; the last has no name. */
extern const struct explained_annotation explained_annotations[];

#pragma once
/* catalog: the documents of a catalogue. Internal to aicr. */
#include "chart/aicr/aicr.h"

struct sw_aicr_catalog {
    char *origin;
    struct sw_aicr_files files;   /* borrowed */
    struct json_object *registry; /* components by name */
    struct json_object *overlays; /* RecipeMetadata by name, "base" among them */
    struct json_object *mixins;   /* RecipeMixin by name */
    struct json_object *names;    /* of the overlays, sorted */
};

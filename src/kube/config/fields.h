#pragma once
/* fields: the texts of a configuration, and where they stand in a kubeconfig. */
#include <stddef.h>

#include "kube/config/kubeconfig.h"

/** The part of a kubeconfig that has the field. */
enum kubeconfig_section { IN_NEITHER, IN_CLUSTER, IN_USER };

/** How its value is written: as it is, as a file's name, in base64. */
enum kubeconfig_form { F_TEXT, F_FILE, F_DATA };

/** One text of struct sw_kube_config. */
struct kubeconfig_field {
    const char *name; /* in the kubeconfig; NULL: IN_NEITHER */
    enum kubeconfig_section section;
    enum kubeconfig_form form;
    size_t offset; /* of the char * in struct sw_kube_config */
};

/** All of them. */
extern const struct kubeconfig_field kubeconfig_fields[];
/** How many rows it has. */
extern const size_t kubeconfig_n_fields;

/** Where @c keeps the text of field @f. */
static inline char **kubeconfig_at(const struct sw_kube_config *c, const struct kubeconfig_field *f)
{
    return (char **)((char *)c + f->offset);
}

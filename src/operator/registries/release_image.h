#pragma once
/* release_image: what a release image of OpenShift says: its version, the driver toolkit in it, and
 * the kernel that the toolkit is for. */
struct json_object;
struct sw_facts;
struct sw_release_image_read;
struct sw_registries;

/** Borrowed for the call; "" where it is not said. */
struct sw_release_image {
    const char *version;       /* "4.10.15" */
    const char *os_version;    /* of machine-os-content: "410.84.202205191234-0" */
    const char *toolkit_image; /* driver-toolkit */
    const char *kernel, *rt_kernel, *rhel_version;
};
/** @code: 0 | SW_NOTFOUND: no such image, or it is no release | SW_FORBIDDEN | SW_UNAVAILABLE |
 * SW_INVALID. @payload NULL unless 0. */
typedef void sw_release_image_fn(int code, const char *message,
                                 const struct sw_release_image *payload, void *arg);

/** Read a release image. Answers once, never before it returned.
 * Source: the files release-manifests/image-references and release-metadata of release images. */
struct sw_release_image_read *sw_release_image_open(struct sw_registries *registries,
                                                    const char *image, const char *arch,
                                                    sw_release_image_fn *fn, void *arg);
/** The same of a driver toolkit image alone. */
struct sw_release_image_read *sw_release_image_open_toolkit(struct sw_registries *registries,
                                                            const char *image, const char *arch,
                                                            sw_release_image_fn *fn, void *arg);
void sw_release_image_close(struct sw_release_image_read *look);

/** Facts of a cluster whose nodes all run @kernel (NULL: the payload's), with what the payload says
 * (NULL: nothing). @os: "8.4" or NULL: as payload or kernel say. The caller's. */
struct sw_facts *sw_release_image_facts(const struct sw_release_image *payload, const char *kernel,
                                        const char *os, const char *arch);

/** The values that templates of @module, a SpecialResourceModule, see beside its own for that
 * release, the caller's. @facts: those of sw_release_image_facts(). Some have other names than
 * those of resources. */
struct json_object *sw_release_image_module_values(const struct sw_release_image *payload,
                                                   struct sw_facts *facts,
                                                   struct json_object *module);

#pragma once
/* images: the container images that manifests name. */
struct json_object;

/** Add the images of @doc as keys of @images, with an empty map each: values of "image" and
 * "...Image", values of variables that are named like an image (RELATED_IMAGE_X: operators pass
 * them on), and what an operator's custom resource names by repository, image and version. Those of
 * drivers, to whose tags the operator adds the nodes' system, are keys of @drivers instead. */
void sw_images_find(struct json_object *doc, struct json_object *images,
                    struct json_object *drivers);

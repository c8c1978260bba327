# compat.mk: more names of targets that users of the Special Resource Operator and of the Dynamic Accelerator Slicer know.
# What has no sense here any more says what to do instead.
KUBECTL_OR_OC := $(or $(KUBECTL),$(CLUSTER_CLIENT),kubectl)
# $(call instead,TEXT)
instead = echo "make $@: $(1)" >&2; false

# VERSION=0.0.1 SPECIALRESOURCE=simple-kmod make: of each chart there is one version here
ifneq ($(SPECIALRESOURCE),)
.DEFAULT_GOAL := $(SPECIALRESOURCE)
.PHONY: $(SPECIALRESOURCE)
$(SPECIALRESOURCE):
	@$(KUBECTL_OR_OC) apply -f $(or $(firstword $(wildcard charts/example/$@/$@.yaml charts/example/$@-*/$@.yaml)),charts/example/$@/$@.yaml)
endif

.PHONY: deploy-cm-simple-kmod deploy-cm-ping-pong e2e-test manifests-gen bundle catalog-build unit-test \
    build-push test-e2e-ci create-related-images build-push-developer-bundle
# $(call cm_recipe,NAME)
cm_recipe = $(KUBECTL_OR_OC) create namespace $(1) --dry-run=client -o yaml | $(KUBECTL_OR_OC) apply -f - && \
    KUBECTL=$(KUBECTL_OR_OC) scripts/make-cm-recipe $(or $(CHART),charts/example/$(1)-0.0.1) $(1)-chart $(1)
deploy-cm-simple-kmod: build ## put the chart simple-kmod into a ConfigMap of the cluster (scripts/make-cm-recipe)
	@$(call cm_recipe,simple-kmod)

deploy-cm-ping-pong: build ## the same with the chart ping-pong of the Special Resource Operator: CHART=path
	@$(if $(CHART)$(wildcard charts/example/ping-pong-0.0.1),$(call cm_recipe,ping-pong),$(call instead,the chart is that of the Special Resource Operator: CHART=.../charts/example/ping-pong-0.0.1))

e2e-test: test-e2e ## what test-e2e does

manifests-gen: manifests ## what manifests does

bundle: bundle-generate ## what bundle-generate does

catalog-build: ## says how a catalog is made of BUNDLE_IMG
	@$(call instead,opm renders catalogs: opm render $(BUNDLE_IMG) -o yaml)

unit-test: test ## what test does

build-push: local-image-build local-image-push ## pack all images, then push them

build-push-developer-bundle: build-push-bundle ## what build-push-bundle does

RELATED_IMAGES_FILE := $(or $(filename),related_images.dev.json)
create-related-images: ## write related_images.dev.json (filename=) with the images of TAG, for RELATED_IMAGES
	@printf '[\n  {"name": "das-operator", "image": "%s"},\n  {"name": "das-webhook", "image": "%s"},\n  {"name": "das-scheduler", "image": "%s"},\n  {"name": "das-daemonset", "image": "%s"}\n]\n' \
	    $(foreach c,operator webhook scheduler daemonset,'$(call reference,$(PROGRAM_$(c)))') >$(RELATED_IMAGES_FILE)

test-e2e-ci: create-related-images ## all that slices of GPUs need onto OpenShift, then test-e2e
	@$(MAKE) --no-print-directory deploy-cert-manager-ocp
	@$(MAKE) --no-print-directory deploy-nfd-ocp
	@$(MAKE) --no-print-directory deploy-nvidia-ocp
	@RELATED_IMAGES=$(RELATED_IMAGES_FILE) $(MAKE) --no-print-directory deploy-das-ocp
	@$(MAKE) --no-print-directory test-e2e

# compat.mk: more names of targets that users of the Special Resource Operator and of the Dynamic Accelerator Slicer know.
# What has no sense here any more says what to do instead.
KUBECTL_OR_OC := $(or $(KUBECTL),$(CLUSTER_CLIENT),kubectl)
# $(call instead,TEXT)
instead = echo "make $@: $(1)" >&2; false

# VERSION=0.0.1 SPECIALRESOURCE=simple-kmod make: of each chart there is one version here
ifneq ($(SPECIALRESOURCE),)
.DEFAULT_GOAL := $(SPECIALRESOURCE)
.PHONY: $(SPECIALRESOURCE)
EXAMPLE = $(firstword $(wildcard charts/example/$(1)/$(1).yaml charts/example/$(1)-*/$(1).yaml))
$(SPECIALRESOURCE):
	@$(if $(call EXAMPLE,$@),$(KUBECTL_OR_OC) apply -f $(call EXAMPLE,$@),$(call instead,it is not among the examples of slipway; where its chart is: $(KUBECTL_OR_OC) apply -f .../charts/example/$@-*/$@.yaml))
endif

.PHONY: deploy-cm-simple-kmod deploy-cm-ping-pong e2e-test manifests-gen bundle unit-test helm-plugins \
    build-push test-e2e-ci create-related-images build-push-developer-bundle \
    lint-go lint-go-fix lint-md lint-md-fix regen-crd regen-crd-k8s generate generate-clients verify-codegen
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

unit-test: test ## what test does

helm-plugins: ## nothing: charts in ConfigMaps (cm://) are read without a plugin
	@echo "make $@: nothing to do: slipway reads cm:// itself" >&2

lint-go: lint ## what lint does
lint-go-fix: lint-fix ## what lint-fix does
lint-md: ## says what looks at the documents
	@$(call instead,make check looks at the documents)
lint-md-fix: lint-md ## what lint-md does
generate: ## says where the definitions are
	@$(call instead,the definitions are written by hand in deploy/crds; make manifests writes what is made of them)
regen-crd: generate ## what generate does
regen-crd-k8s: generate ## what generate does
generate-clients: ## says what clients there are
	@$(call instead,slipway has no clients in Go: those of the Dynamic Accelerator Slicer go on working)
verify-codegen: generate-clients ## what generate-clients does

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

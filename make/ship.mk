# ship.mk: images, and onto a cluster and off again. The names are those that users of the Special
# Resource Operator and of the Dynamic Accelerator Slicer know.

# ---- what is shipped, and where to ---------------------------------------------------------------
REGISTRY  ?= $(or $(IMAGE_REGISTRY),quay.io/slipway)
TAG       ?= $(or $(IMAGE_TAG),$(subst /,-,$(shell git rev-parse --abbrev-ref HEAD 2>/dev/null || echo latest)))
# Where RELATED_IMAGES names an image for a part, that is built, pushed and deployed, as by DAS's targets
related    = $(if $(RELATED_IMAGES),$(shell KUBECTL=true hack/deploy.sh related $(1)))
IMG       ?= $(or $(call related,operator),$(REGISTRY)/slipway:$(TAG))
NAMESPACE ?= slipway
export REGISTRY TAG IMG NAMESPACE
# Passed on where they are set: KUBECTL KUBECONFIG PLATFORM EMULATED_MODE RELATED_IMAGES API_SERVER
# PULL_POLICY REPLICAS TIMEOUT CONTAINER_COMMAND
CONTAINER_COMMAND ?= $(PODMAN)
export CONTAINER_COMMAND
ifneq ($(origin SRO_COMPAT),undefined)
export SRO_COMPAT
endif
ifneq ($(origin DAS_COMPAT),undefined)
export DAS_COMPAT
endif
ifneq ($(origin KUBECTL),undefined)
export KUBECTL
endif
ifneq ($(origin EMULATED_MODE),undefined)
export EMULATED_MODE
endif
ifneq ($(origin RELATED_IMAGES),undefined)
export RELATED_IMAGES
endif

# slipway's own image is that program's with the recipes; a component is named as DAS does.
PROGRAM_operator      := slipway
PROGRAM_webhook       := slipway-webhook
PROGRAM_scheduler     := slipway-scheduler
PROGRAM_daemonset     := slipway-device-plugin
PROGRAM_device-plugin := slipway-device-plugin
COMPONENTS := operator webhook scheduler daemonset device-plugin

# $(call reference,PROGRAM)
reference = $(if $(filter slipway,$(1)),$(IMG),$(or $(call related,$(1:slipway-%=%)),$(REGISTRY)/$(1):$(TAG)))

.PHONY: local-image-build local-image-push local-image-load build-push-parallel manifests \
    install uninstall deploy undeploy deploy-das deploy-das-ocp undeploy-das undeploy-das-ocp back-to-das manager run-local info \
    test-e2e
IMAGE_ARCH := $(if $(ARCH),--arch $(ARCH) --sysroot $(SYSROOT) --programs $(BUILD) --out $(BUILD)/images)
local-image-build: build ## pack all programs as images into build/images (no daemon, no network); ARCH=arm64
	@hack/image.sh build $(IMAGE_ARCH) $(PROGRAMS)

local-image-push: $(PROGRAMS:%=push-image-%) ## push the images of build/images (podman, docker, or plain HTTP)

local-image-load: ## hand the images of build/images to podman or docker
	@hack/image.sh load $(PROGRAMS:%=$(BUILD)/images/%.tar)

build-push-parallel: local-image-build ## pack and push all images, side by side
	@$(MAKE) --no-print-directory -j4 local-image-push

define image_targets
.PHONY: local-image-build-$(1) local-image-push-$(1) push-image-$(1)
local-image-build-$(1): build
	@hack/image.sh build $(IMAGE_ARCH) $(1)
push-image-$(1):
	@hack/image.sh send $(BUILD)/images/$(1) $(call reference,$(1))
local-image-push-$(1): push-image-$(1)
endef
$(foreach p,$(sort $(PROGRAMS) $(foreach c,$(COMPONENTS),$(PROGRAM_$(c)))),$(eval $(call image_targets,$(p))))

define component_targets
.PHONY: build-push-$(1)
build-push-$(1): local-image-build-$(PROGRAM_$(1))
	@$(MAKE) --no-print-directory push-image-$(PROGRAM_$(1))
endef
$(foreach c,$(COMPONENTS),$(eval $(call component_targets,$(c))))

.PHONY: man
man: build ## write the manual pages into build/man
	@mkdir -p $(BUILD)/man && $(BUILD)/slipway man >$(BUILD)/man/slipway.1
	@for c in $$($(BUILD)/slipway --help | sed -n '/^Commands:/,/^$$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do $(BUILD)/slipway man $$c >$(BUILD)/man/slipway-$$c.1; done

manifests: build ## write deploy/ from charts/slipway
	@hack/manifests.sh

# ---- the Operator Lifecycle Manager --------------------------------------------------------------
BUNDLE_IMG ?= $(REGISTRY)/slipway-bundle:$(TAG)
CATALOG_IMG ?= $(REGISTRY)/slipway-catalog:$(TAG)
BUNDLES ?= $(BUNDLE_IMG)=deploy/bundle
.PHONY: bundle-generate bundle-build bundle-push build-push-bundle catalog-build catalog-push
bundle-generate: build ## write deploy/bundle: VERSION, CHANNEL, REPLACES
	@env -u VERSION -u IMG $(if $(filter command line environment,$(origin VERSION)),VERSION=$(VERSION)) $(if $(filter command line environment,$(origin IMG)),IMG=$(IMG)) hack/bundle.sh generate

bundle-build: build ## pack it as an image: BUNDLE_IMG
	@hack/image.sh bundle deploy/bundle $(BUNDLE_IMG)

bundle-push: ## push that image
	@hack/image.sh send $(BUILD)/images/slipway-bundle $(BUNDLE_IMG)

build-push-bundle: bundle-build ## pack and push the bundle
	@$(MAKE) --no-print-directory bundle-push

catalog-build: build ## write a catalog into build/catalog, and pack it: CATALOG_IMG, BUNDLES (image=folder, the oldest first)
	@env -u VERSION -u IMG CATALOG_IMG=$(CATALOG_IMG) hack/bundle.sh catalog $(BUILD)/catalog $(BUNDLES)
	@hack/image.sh catalog $(BUILD)/catalog $(CATALOG_IMG)

catalog-push: ## push that image
	@hack/image.sh send $(BUILD)/images/slipway-catalog $(CATALOG_IMG)

# ---- onto a cluster ------------------------------------------------------------------------------
# Operators' authors know `make install` as this; who gives DESTDIR or PREFIX means another thing.
install: ## apply the custom resource definitions to the cluster of KUBECONFIG
	@[ -z "$(DESTDIR)$(filter command environment,$(firstword $(origin PREFIX)))" ] || { echo "make install applies definitions to a cluster: make install-programs DESTDIR=... PREFIX=... installs the programs" >&2; exit 2; }
	@hack/deploy.sh install

PREFIX ?= /usr/local
install-programs: man ## install the programs, manual pages and completions: DESTDIR, PREFIX (/usr/local)
	@hack/install-programs.sh "$(DESTDIR)" "$(PREFIX)"

uninstall: ## remove them (not while there are resources; FORCE=1)
	@hack/deploy.sh uninstall

deploy: ## install the operator: TAG, IMG, NAMESPACE, KUBECTL=oc|kubectl, EMULATED_MODE; SRO_COMPAT=1: in the place of SRO
	@hack/deploy.sh deploy

undeploy: ## remove the operator and everything that it made
	@hack/deploy.sh undeploy

deploy-das: build ## install the operator and the nvidia-mig recipe, for slices of GPUs; DAS_COMPAT=1: in the place of DAS
	@hack/deploy.sh das

deploy-das-ocp: build ## the same on OpenShift
	@PLATFORM=openshift hack/deploy.sh das

undeploy-das: ## remove the nvidia-mig recipe
	@hack/deploy.sh undas

back-to-das: ## give the cluster back to DAS: once before it is deployed again, once after it
	@hack/back-to-das.sh

undeploy-das-ocp: undeploy-das ## the same on OpenShift

manager: build ## build the operator (build/slipway)

run-local: build install ## run the operator here, with the recipes here, against the cluster of KUBECONFIG
	@SLIPWAY_RECIPES=$${SLIPWAY_RECIPES:-$(CURDIR)/recipes} RELATED_IMAGES="$$(if [ -f "$$RELATED_IMAGES" ]; then cat "$$RELATED_IMAGES"; else echo "$$RELATED_IMAGES"; fi)" $(BUILD)/slipway controller --metrics-bind-address 127.0.0.1:8080 --metrics-secure=false --health-probe-bind-address 127.0.0.1:8081 $(ARGS)

info: ## which images, namespace and cluster the targets would use
	@hack/deploy.sh info

test-e2e: deps-tests ## the tests on a real cluster; focus=REGEX picks some
	@TESTS='$(or $(focus),$(FOCUS))' $(MAKE) --no-print-directory test-cluster

# ---- what recipes build on ------------------------------------------------------------------------
.PHONY: deploy-cert-manager deploy-cert-manager-ocp deploy-nfd deploy-nfd-ocp deploy-nvidia deploy-nvidia-ocp \
    undeploy-cert-manager undeploy-cert-manager-ocp undeploy-nfd undeploy-nfd-ocp undeploy-nvidia undeploy-nvidia-ocp
deploy-cert-manager: build ## install cert-manager from its chart and wait (DRY_RUN=1 prints)
	@hack/prereq.sh deploy cert-manager $(if $(DRY_RUN),--dry-run)
deploy-cert-manager-ocp: build ## install cert-manager through the Operator Lifecycle Manager and wait
	@hack/prereq.sh deploy cert-manager --ocp $(if $(DRY_RUN),--dry-run)
undeploy-cert-manager: build ## remove it again
	@hack/prereq.sh undeploy cert-manager $(if $(DRY_RUN),--dry-run)
undeploy-cert-manager-ocp: build ## remove it again
	@hack/prereq.sh undeploy cert-manager --ocp $(if $(DRY_RUN),--dry-run)
deploy-nfd: build ## install Node Feature Discovery from its chart and wait (DRY_RUN=1 prints)
	@hack/prereq.sh deploy nfd $(if $(DRY_RUN),--dry-run)
deploy-nfd-ocp: build ## install Node Feature Discovery through the Operator Lifecycle Manager and wait
	@hack/prereq.sh deploy nfd --ocp $(if $(DRY_RUN),--dry-run)
undeploy-nfd: build ## remove it again
	@hack/prereq.sh undeploy nfd $(if $(DRY_RUN),--dry-run)
undeploy-nfd-ocp: build ## remove it again
	@hack/prereq.sh undeploy nfd --ocp $(if $(DRY_RUN),--dry-run)
deploy-nvidia: build ## install NVIDIA's GPU operator from its chart and wait (DRY_RUN=1 prints)
	@hack/prereq.sh deploy nvidia $(if $(DRY_RUN),--dry-run)
deploy-nvidia-ocp: build ## install NVIDIA's GPU operator through the Operator Lifecycle Manager and wait
	@hack/prereq.sh deploy nvidia --ocp $(if $(DRY_RUN),--dry-run)
undeploy-nvidia: build ## remove it again
	@hack/prereq.sh undeploy nvidia $(if $(DRY_RUN),--dry-run)
undeploy-nvidia-ocp: build ## remove it again
	@hack/prereq.sh undeploy nvidia --ocp $(if $(DRY_RUN),--dry-run)

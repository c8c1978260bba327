# dist.mk: what a release consists of. Its programs have their libraries in them; the device plugin has all but the
# C library, since it loads NVML.

# ---- static programs -----------------------------------------------------------------------------
# libcurl and libgit2 as Debian builds them want Kerberos and LDAP, which cannot be linked: hack/static-libs.sh
# builds them without.
STATIC_LIBS := $(BUILD)/static-libs
# The objects are those of the shared build but for the files with tables of functions.
STATIC_SRC  := $(filter-out src/slicing/nvml/%,$(filter %.c,$(shell grep -rl '"base/library.h"' src)))
STATIC_OBJ  := $(STATIC_SRC:%.c=$(BUILD)/static/%.o)
LINK_static  = $(CC) $(CFLAGS_rel) $(CFLAGS) -Wl,--gc-sections $(subst -pie ,,$(HARDEN_LD)) $(LDFLAGS) -L$(STATIC_LIBS)/lib
# in the order of who asks whom; libm is the little that LIBM_ says
LIBS_static := -ljson-c -lyaml -lcurl -lnghttp2 -levent -lprotobuf-c -lgit2 -lhttp_parser -lssh2 -lpcre2-8 -larchive -lzstd -lssl -lcrypto -lz -lm

$(BUILD)/static/%.o: %.c hack/hardening.sh | $(PB:%=$(BUILD)/gen/%.h)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS_rel) $(CFLAGS) -DSW_STATIC $(CPPFLAGS) $(PKG_CFLAGS) -MMD -MP -c $< -o $@

# libcurl.a, too; this one is the last that is written
$(STATIC_LIBS)/lib/libgit2.a: hack/static-libs.sh
	@hack/static-libs.sh $(abspath $(STATIC_LIBS)) $(if $(ARCH),$(ARCH) $(abspath $(SYSROOT)))

# glibc says of each look-up of names that it wants shared libraries for what /etc/nsswitch.conf adds: files and
# DNS, which clusters use, are in it
quiet_link = 2>$@.log || { cat $@.log >&2; false; }; \
    grep -v 'in statically linked applications requires\|: in function\|^collect2' $@.log >&2; rm $@.log

define static_program
$(BUILD)/static/$(1): $(BUILD)/rel/src/$(DIR_$(1))/main.o $(BUILD)/rel/libslipway.a $(STATIC_OBJ) $(STATIC_LIBS)/lib/libgit2.a
	@mkdir -p $$(@D)
	$$(LINK_static) $(2) -Wl,-Map=$$@.map -o $$@ $$< $(STATIC_OBJ) $(BUILD)/rel/libslipway.a $(3) $$(quiet_link)
endef
$(foreach p,$(filter-out slipway-device-plugin,$(PROGRAMS)),$(eval $(call static_program,$(p),-static-pie,$(LIBS_static))))
$(eval $(call static_program,slipway-device-plugin,-pie,-Wl$(comma)-Bstatic $(LIBS_static) -Wl$(comma)-Bdynamic))

.PHONY: static
static: $(PROGRAMS:%=$(BUILD)/static/%) ## programs that need no libraries, in build/static (Debian; see docs/release.md)

# ---- a release -----------------------------------------------------------------------------------
HOST_ARCH := $(if $(filter aarch64,$(shell uname -m)),arm64,amd64)
ARCHES ?= $(HOST_ARCH)
.PHONY: dist $(ARCHES:%=dist-%)
dist: $(ARCHES:%=dist-%) ## archives, packages, checksums and bills of materials, in build/dist: ARCHES="amd64 arm64"

dist-$(HOST_ARCH): man static
	@hack/dist.sh

# (after the host's: what is packed is complete then)
$(filter-out dist-$(HOST_ARCH),$(ARCHES:%=dist-%)): dist-%: man | $(filter dist-$(HOST_ARCH),$(ARCHES:%=dist-%))
	@hack/sysroot.sh $* $(BUILD)/sysroot-$*
	@$(MAKE) --no-print-directory -s ARCH=$* static
	@hack/dist.sh --arch $* --programs build/$*/static

.PHONY: test-dist
test-dist: dist ## install each artifact of a release in a clean root, and use it there (root only; SUITES="bookworm trixie")
	@hack/test-dist.sh

# The images are those of the version, whatever commits came since: v0.1.0 of 0.1.0+g1234567.
DIST_VERSION  = $(shell hack/version.sh)
DIST_TAG      = v$(firstword $(subst +, ,$(DIST_VERSION)))
images_of     = build/$(if $(filter $(HOST_ARCH),$(1)),,$(1)/)images
.PHONY: publish $(ARCHES:%=release-images-%)
publish: dist $(ARCHES:%=release-images-%) ## push a release's images, those of ARCHES under one name, and its chart: REGISTRY
	@for p in $(PROGRAMS); do hack/image.sh push $(foreach a,$(ARCHES),$(call images_of,$(a))/$$p.oci) $(REGISTRY)/$$p:$(DIST_TAG) || exit 1; done
	@hack/image.sh chart "build/dist/slipway-chart-$(DIST_VERSION).tgz" "$(REGISTRY)/charts/slipway:$(subst +,_,$(DIST_VERSION))"
	@hack/image.sh push build/images/slipway-chart.oci "$(REGISTRY)/charts/slipway:$(subst +,_,$(DIST_VERSION))"

$(ARCHES:%=release-images-%): release-images-%: | dist
	@$(MAKE) --no-print-directory -s $(if $(filter $(HOST_ARCH),$*),,ARCH=$*) TAG=$(DIST_TAG) local-image-build

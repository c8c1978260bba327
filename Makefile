# slipway: build, run, test. `make help` lists the targets.

# [a-z] are these 26 letters, in this order, for every tool that is called: in Turkish some are not among them.
export LC_ALL := C.UTF-8

# ---- what is built of what ----------------------------------------------------------------------
# src/modules.txt: one row a module, with its libraries (pkg-config names). A program links those of
# the modules that are in it.
MODULES  := $(shell awk -F' *[|] *' '/^[a-z]/ { gsub(/ +/, ",", $$3); print $$1 ":," $$3 }' src/modules.txt)
# $(call packages,DISTRICT...): the libraries of all modules in these folders
packages  = $(sort $(subst $(comma), ,$(foreach d,$(1),$(foreach m,$(filter $(d):% $(d)/%,$(MODULES)),$(lastword $(subst :, ,:$(m)))))))

# The programs: build/<name> from src/<DIR>/main.c and what it needs of these modules, linked with
# their libraries and no others; build/test/<name> is the same with sanitizers.
PROGRAMS       := slipway slipway-webhook slipway-scheduler slipway-device-plugin
DIR_slipway    := cli
OF_slipway     := base data net/http net/serve kube chart operator slicing/mig slicing/dra slicing/claim slicing/scheduler/cache slicing/scheduler/devices emulator web cli
DIR_slipway-webhook := slicing/webhook
OF_slipway-webhook  := base data net/http net/serve kube slicing/mig slicing/webhook
DIR_slipway-scheduler := slicing/scheduler
OF_slipway-scheduler  := base data net/http net/serve kube slicing/mig slicing/claim slicing/scheduler
DIR_slipway-device-plugin := slicing/deviceplugin
OF_slipway-device-plugin  := base data net kube slicing/mig slicing/claim slicing/nvml slicing/deviceplugin
# every page counts in a program of 8 MiB: the little of libm that it needs, not the library
LIBM_slipway-webhook := -Wl,-Bstatic -lm -Wl,-Bdynamic
LIBM_slipway-device-plugin := -Wl,-Bstatic -lm -Wl,-Bdynamic

# Debian 12 (Fedora's and RHEL 9's names are in hack/deps.sh)
PKGS  = $(call packages,$(DISTRICTS))
DISTRICTS := base data net kube chart operator slicing emulator web cli

comma    := ,
CC       ?= gcc
CLANG    ?= clang
BUILD    := build
# make ARCH=arm64: programs for another machine, in build/arm64, with its libraries in SYSROOT
# (hack/sysroot.sh) and Debian's cross compiler (gcc-aarch64-linux-gnu)
ifneq ($(ARCH),)
TRIPLET  := $(if $(filter arm64,$(ARCH)),aarch64,x86_64)-linux-gnu
SYSROOT  ?= build/sysroot-$(ARCH)
BUILD    := build/$(ARCH)
override CC := $(CCACHE) $(TRIPLET)-gcc --sysroot=$(abspath $(SYSROOT))
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(abspath $(SYSROOT)) PKG_CONFIG_LIBDIR=$(abspath $(SYSROOT))/usr/lib/$(TRIPLET)/pkgconfig:$(abspath $(SYSROOT))/usr/share/pkgconfig pkg-config
endif
PKG_CONFIG ?= pkg-config
STD      := -std=gnu17 -D_GNU_SOURCE
# the last three: what gcc 14 refuses
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Werror=implicit-function-declaration -Werror=int-conversion -Werror=incompatible-pointer-types
# The chart's version, and of what is no release the commit: 0.1.0, 0.1.0+g3a1f6b74, 0.1.0+g3a1f6b74.dirty
VERSION  := $(shell hack/version.sh)
# (hack/commit names the commit in archives of the sources)
COMMIT    = $(shell hack/version.sh --commit)
DATE      = $(shell hack/version.sh --date)
LIBRARIES = $(foreach p,$(PKGS),$(p)=$(shell $(PKG_CONFIG) --modversion $(p) 2>/dev/null))
CPPFLAGS += -Isrc -I$(BUILD)/gen
RELEASE  := -O2 -g -ffunction-sections -fdata-sections
# Lines for the sanitizers' traces; CFLAGS=-g for variables in a debugger, too. What is undefined ends the
# program with SIGILL, whose trace AddressSanitizer prints; it is not described in words, since what the
# words are made of would be nine tenths of the variables that each start registers, and half of its CPU.
# With words: rm -r build/test; make test UBSAN=-fno-sanitize-recover=undefined
UBSAN    ?= -fsanitize-undefined-trap-on-error
SANITIZE := -O1 -g1 -fsanitize=address,undefined $(UBSAN) -fno-omit-frame-pointer
# what protects the programs, asked for once, and only by what compiles or links
HARDEN   = $(eval HARDEN := $(shell hack/hardening.sh compile $(CC) $(RELEASE)))$(HARDEN)
HARDEN_LD= $(eval HARDEN_LD := $(shell hack/hardening.sh link $(CC)))$(HARDEN_LD)
LDRELEASE= -Wl,--gc-sections -Wl,--as-needed $(HARDEN_LD)
export SW_SHARED ?= $(wildcard ../shared)

# asked for once, and only by what compiles
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lm)$(PKG_LIBS)

SRC      := $(shell find src -name '*.c' | sort)
MAINS    := $(filter %/main.c,$(SRC))
LIBSRC   := $(filter-out $(MAINS),$(SRC))

# Files that travel in the program: NAME = the C array, FILES_NAME = what is in it.
EMBEDDED             := sw_emulator_rules sw_stand_ins sw_deploy_crds sw_deploy_rights sw_kind_fields sw_kmm_module sw_web_page
FILES_sw_stand_ins      := $(patsubst src/emulator/stand_ins/%,src/emulator/stand_ins/./%,$(sort $(shell find src/emulator/stand_ins -mindepth 2 -type f)))
FILES_sw_emulator_rules := $(sort $(wildcard src/emulator/rules/builtin/*.yaml))
FILES_sw_web_page       := $(sort $(wildcard src/web/page/*))
FILES_sw_kind_fields    := src/cli/lint/fields.txt
FILES_sw_kmm_module     := $(patsubst states/kmm-module/%,states/kmm-module/./%,$(sort $(shell find states/kmm-module/templates states/kmm-module/values.yaml -type f 2>/dev/null)))
FILES_sw_deploy_rights  := deploy/base/namespace.yaml deploy/base/rbac.yaml
FILES_sw_deploy_crds    := $(sort $(wildcard deploy/crds/*_*.yaml))
GEN      := $(EMBEDDED:%=$(BUILD)/gen/%.c)

# Messages between programs: src/<module>/proto/<name>.proto -> build/gen/<name>.pb-c.[ch]
PROTOS   := $(shell find src -name '*.proto')
PB       := $(notdir $(PROTOS:%.proto=%.pb-c))

# ---- everyday targets ---------------------------------------------------------------------------
.PHONY: all build run test test-all test-debian13 test-cluster check bench docs-site fuzz deps deps-tests clean help install-deps
.DEFAULT_GOAL := build

build: $(PROGRAMS:%=$(BUILD)/%) ## build build/slipway and the other programs (the default)
all: build

run: deps ## build, and walk recipes/nvidia-mig to Ready on an embedded cluster
	@$(MAKE) --no-print-directory -s build
	@$(BUILD)/slipway run recipes/nvidia-mig --emulate $(ARGS)

test: deps-tests ## build everything with ASan and UBSan and run all tests that need no cluster; T=chart for one district's
	@$(MAKE) --no-print-directory -s test-programs
	@hack/run-tests.sh

test-all: ## the same, and what takes longer: all that test and check try as a sample (kills, seeds, orders, awks, capabilities)
	@SW_ALL=1 $(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory check-capabilities

test-debian13: ## build with Debian 13's compilers, warnings as errors, and run tests there (root only; ALL=1: all tests)
	@hack/test-root.sh trixie

test-cluster: deps-tests ## bring up two real one-node clusters (hack/cluster.sh) and run the tests in test/cluster
	@$(MAKE) --no-print-directory -s build $(addprefix $(BUILD)/test/,slipway kube_probe registry-server image_registry slipway-device-plugin libnvidia-ml.so)
	@hack/test-cluster.sh

check: deps ## format, cppcheck, -Werror with gcc and clang, includes, headers, tables
	@hack/check.sh

bench: deps ## measure speed and memory: the table of docs/benchmarks.md; O=json prints all of build/bench.json
	@$(MAKE) --no-print-directory -s build bench-programs
	@hack/bench.sh >$(BUILD)/bench.json.new && mv $(BUILD)/bench.json.new $(BUILD)/bench.json
	@if [ "$(O)" = json ]; then cat $(BUILD)/bench.json; else hack/bench-table.py $(BUILD)/bench.json; fi
.PHONY: bench-aicr
bench-aicr: deps-tests ## a bundle of NVIDIA's AICR, walked and by its own deploy.sh (BUNDLE=DIR with one, HELM=PROGRAM): time, requests, a failure, a late node, a kill
	@$(MAKE) --no-print-directory -s build
	@hack/bench-aicr.sh

docs-site: ## build a site of the documents and a reference, build/site (needs mkdocs)
	@$(MAKE) --no-print-directory -s build
	@hack/site.py

deps: ## install missing build packages through the system's package manager
	@hack/deps.sh

deps-tests: ## install what the build and the tests need
	@hack/deps.sh tests

clean: ## remove build/
	rm -rf $(BUILD) $(if $(ARCH),,build-*/)

help: ## list the targets
	@sed -n 's/^\([a-z][a-z0-9_.-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | sort | \
	    awk -F'\t' '{ printf "  %-30s %s\n", $$1, $$2 }'

# ---- two configurations: release (rel) and tests (test) -----------------------------------------
CFLAGS_rel   = $(RELEASE) $(HARDEN)
# objects of the release are compiled again when these change
FLAGS_rel   := hack/hardening.sh
CFLAGS_test := $(SANITIZE) -DSW_TEST
# Programs of tests are many, are started thousands of times, and run for a moment: compiled without
# optimization, and linked by the fastest linker there is (LDFLAGS=-fuse-ld=bfd for the usual one; GNU ld takes
# four times as long), at a fixed address and with no library that is loaded at first use. The sanitizers
# describe each variable, 290,000 relocations where the address is not fixed: half of what a start costs.
FASTLD      := $(if $(ARCH),,$(firstword $(foreach l,lld gold,$(if $(shell command -v ld.$(l) 2>/dev/null),-fuse-ld=$(l)))))
LDTEST      := $(FASTLD) -no-pie -Wl,--as-needed
CFLAGS_case := $(CFLAGS_test) -O0

define config
OBJ_$(1)  := $(LIBSRC:%.c=$(BUILD)/$(1)/%.o) $(EMBEDDED:%=$(BUILD)/$(1)/gen/%.o) $(PB:%=$(BUILD)/$(1)/gen/%.o)
MAIN_$(1) := $(MAINS:%.c=$(BUILD)/$(1)/%.o)

$(BUILD)/$(1)/%.o: %.c $(FLAGS_$(1)) | $(PB:%=$(BUILD)/gen/%.h)
	@mkdir -p $$(@D)
	$$(CC) $(STD) $(WARN) $$(CFLAGS_$(1)) $$(CFLAGS) $$(CPPFLAGS) $$(PKG_CFLAGS) -MMD -MP -c $$< -o $$@

$(BUILD)/$(1)/gen/%.o: $(BUILD)/gen/%.c $(FLAGS_$(1))
	@mkdir -p $$(@D)
	$$(CC) $(STD) $$(CFLAGS_$(1)) $$(CFLAGS) $$(CPPFLAGS) -c $$< -o $$@

$(BUILD)/$(1)/libslipway.a: $$(OBJ_$(1))
	@rm -f $$@
	$$(AR) rcs $$@ $$^
endef
$(eval $(call config,rel))
$(eval $(call config,test))

# The version is known to the main files only; they are built again when it changes.
$(BUILD)/gen/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' >$@
FORCE:
VERSION_OBJ := $(foreach p,$(PROGRAMS),$(BUILD)/rel/src/$(DIR_$(p))/main.o $(BUILD)/test/src/$(DIR_$(p))/main.o)
$(VERSION_OBJ): $(BUILD)/gen/version
$(VERSION_OBJ): CPPFLAGS += -DSW_VERSION='"$(VERSION)"' -DSW_COMMIT='"$(COMMIT)"' -DSW_DATE='"$(DATE)"' -DSW_LIBRARIES='"$(LIBRARIES)"'

.PRECIOUS: $(GEN)
.SECONDEXPANSION:
$(BUILD)/gen/%.c: hack/embed.sh $$(FILES_%)
	@mkdir -p $(@D)
	hack/embed.sh $* $(FILES_$*) >$@.tmp && mv $@.tmp $@

$(PB:%=$(BUILD)/gen/%.h): $(BUILD)/gen/%.pb-c.h: $(BUILD)/gen/%.pb-c.c ;
# (a % in the prerequisites would be the stem: so all of them)
$(PB:%=$(BUILD)/gen/%.c): $(BUILD)/gen/%.pb-c.c: $(PROTOS)
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) --proto_path=$(dir $(filter %/$*.proto,$(PROTOS))) $(filter %/$*.proto,$(PROTOS))

.PHONY: generated
generated: $(GEN) $(PB:%=$(BUILD)/gen/%.h)

define program
LIBS_$(1) = $$(shell $(PKG_CONFIG) --libs $$(call packages,$(OF_$(1))) 2>/dev/null) $(or $(LIBM_$(1)),-lm)

$(BUILD)/$(1): $(BUILD)/rel/src/$(DIR_$(1))/main.o $(BUILD)/rel/libslipway.a
	$$(CC) $$(CFLAGS_rel) $$(CFLAGS) $$(LDRELEASE) $$(LDFLAGS) -o $$@ $$^ $$(LIBS_$(1))

$(BUILD)/test/$(1): $(BUILD)/test/src/$(DIR_$(1))/main.o $(BUILD)/test/libslipway.a
	$$(CC) $$(CFLAGS_test) $$(LDTEST) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS_$(1))
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

# ---- tests ---------------------------------------------------------------------------------------
# make test T=chart: one district's, a folder in test/unit, test/emulator, ...; or several
UNIT  := $(patsubst %.c,$(BUILD)/%,$(foreach d,$(or $(T),*),$(wildcard $(foreach k,unit emulator golden,test/$(k)/$(d)/*_test.c))))
FUZZ  := $(patsubst %.c,$(BUILD)/%,$(foreach d,$(or $(T),*),$(wildcard test/fuzz/$(d)/*_fuzz.c)))
TOOLS := $(patsubst test/tools/%.c,$(BUILD)/test/%,$(wildcard test/tools/*.c))
BENCH := $(patsubst test/bench/%.c,$(BUILD)/bench/%,$(wildcard test/bench/*.c))

.PHONY: test-programs bench-programs fuzz-programs
test-programs: build $(UNIT) $(FUZZ) $(TOOLS) $(BUILD)/test/sched_load $(PROGRAMS:%=$(BUILD)/test/%) $(BUILD)/test/libnvidia-ml.so
bench-programs: $(BENCH) $(BUILD)/test/sched_load $(BUILD)/test/dra_load ## build what the scripts of docs/benchmarks.md run, and measure nothing

# cmocka.h wants these before it, and formatting sorts it to the front
TEST_CPPFLAGS := -include setjmp.h -include stdarg.h -include stddef.h -include stdint.h -Itest -DSW_SOURCE_DIR='"$(CURDIR)"'

# compiled apart from linking: a change in src/ links them again and compiles none
.SECONDARY: $(UNIT:%=%.o) $(FUZZ:%=%.o)
$(BUILD)/test/%_test.o: test/%_test.c | $(PB:%=$(BUILD)/gen/%.h)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS_case) $(CFLAGS) $(CPPFLAGS) $(TEST_CPPFLAGS) $(PKG_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/test/fuzz/%_fuzz.o: test/fuzz/%_fuzz.c test/fuzz/replay.h
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS_case) $(CFLAGS) $(CPPFLAGS) $(TEST_CPPFLAGS) $(PKG_CFLAGS) -include test/fuzz/replay.h -MMD -MP -c $< -o $@

$(BUILD)/test/%_test: $(BUILD)/test/%_test.o $(BUILD)/test/libslipway.a
	$(CC) $(CFLAGS_case) $(LDTEST) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(PKG_LIBS) -levent_openssl -lcmocka

$(BUILD)/test/fuzz/%_fuzz: $(BUILD)/test/fuzz/%_fuzz.o $(BUILD)/test/libslipway.a
	$(CC) $(CFLAGS_case) $(LDTEST) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(PKG_LIBS)

# an NVML without a GPU, loaded by the programs under test
$(BUILD)/test/libnvidia-ml.so: test/nvml/nvml.c src/slicing/nvml/abi.h
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) -O1 -g -fPIC -shared -fvisibility=hidden $(CFLAGS) $(CPPFLAGS) -o $@ $<

$(TOOLS): $(BUILD)/test/%: test/tools/%.c $(BUILD)/rel/libslipway.a
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS_rel) $(CFLAGS) $(CPPFLAGS) $(TEST_CPPFLAGS) $(PKG_CFLAGS) $(LDRELEASE) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/rel/libslipway.a $(PKG_LIBS) -levent_openssl -lcmocka

$(BENCH): $(BUILD)/bench/%: test/bench/%.c $(BUILD)/rel/libslipway.a
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS_rel) $(CFLAGS) $(CPPFLAGS) $(TEST_CPPFLAGS) $(PKG_CFLAGS) $(LDRELEASE) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/rel/libslipway.a $(PKG_LIBS)

SEEDS ?= 100
.PHONY: chaos
chaos: deps ## SEEDS=n random fault plans for each recipe, and the crash sweep: all must converge
	@$(MAKE) --no-print-directory -s build $(BUILD)/test/chaos
	@SLIPWAY_STAND_INS=1 $(BUILD)/test/chaos all $(SEEDS) recipes/nvidia-mig charts/example/simple-kmod

.PHONY: test-aicr
test-aicr: deps-tests ## walk, validate and remove all recipes and bundles of NVIDIA's AICR in ../shared, each on an embedded cluster; kill the walk of one
	@$(MAKE) --no-print-directory -s build $(BUILD)/test/chaos
	@SLIPWAY=$(abspath $(BUILD)/slipway) hack/test-aicr.sh

# libFuzzer: make fuzz [FUZZ_SECONDS=60] [TARGET=yaml]
FUZZ_SECONDS ?= 60
fuzz: deps ## run each fuzz target with libFuzzer for FUZZ_SECONDS (default 60); TARGET=name for one
	@hack/fuzz.sh $(FUZZ_SECONDS) $(TARGET)

include make/ship.mk
include make/compat.mk
include make/dist.mk
include make/develop.mk

# What objects are made of: a second to read, so not for what makes none (or has another make do it)
NO_OBJECTS := help clean deps deps-tests run test test-all test-aicr test-cluster test-e2e check lint bench bench-aicr fuzz chaos info \
    install uninstall deploy undeploy undeploy-das undeploy-das-ocp back-to-das catalog-build create-related-images unit-test e2e-test
ifneq ($(filter-out $(NO_OBJECTS),$(or $(MAKECMDGOALS),build)),)
-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
endif

# develop.mk: what a developer uses beside build and test.

.PHONY: measure
measure: ## figures about the code, of this tree or TREE=path: LIST=once, O=json
	@hack/measure-code.py $(TREE) $(if $(LIST),--list $(LIST)) $(if $(O),-o $(O))

# ---- format and lint -------------------------------------------------------------------------------
.PHONY: fmt fmt-check
fmt: ## format the C sources in place (clang-format 14)
	@hack/format.sh

fmt-check: ## say which C sources `make fmt` would change
	@hack/format.sh --check

.PHONY: lint lint-fix
lint: ## clang-tidy and cppcheck over what has changed; ALL=1: over everything
	@$(MAKE) --no-print-directory -s generated
	@hack/lint.sh $(if $(ALL),--all)

lint-fix: fmt ## what fmt does

# a file that clang-tidy found clean; what it depends on is in the .d beside it
CLANG_TIDY ?= clang-tidy
$(BUILD)/lint/%.ok: %.c .clang-tidy hack/lint.h
	@mkdir -p $(@D)
	@$(CLANG_TIDY) --quiet $< -- $(STD) $(CPPFLAGS) $(if $(filter-out src/base/err.c,$<),-include hack/lint.h) -DSW_VERSION='"lint"' $(PKG_CFLAGS) 2>$(@:.ok=.err) || { grep -v 'warnings\? generated\|^Suppressed\|^Use ' $(@:.ok=.err); false; }
	@$(CC) $(STD) $(CPPFLAGS) -DSW_VERSION='"lint"' $(PKG_CFLAGS) -MM -MP -MT $@ -MF $(@:.ok=.d) $< && touch $@

# ---- capabilities of the operator's controller ------------------------------------------------------
.PHONY: check-capabilities
check-capabilities: ## build and walk slipway without each capability of the controller; ROW=name for one
	@$(MAKE) --no-print-directory -s generated
	@hack/check-capabilities.sh $(ROW)

# What editors compile each file with. Written only where it has changed, so that
# clangd need not read everything again.
TEST_SRC := $(sort $(shell find test -name '*.c'))
define newline


endef
json_escape     = $(subst ",\",$(subst \,\\,$(1)))
compile_command = $(call json_escape,$(filter-out ccache,$(CC)) $(STD) $(WARN) $(CFLAGS_test) $(CPPFLAGS) -DSW_VERSION='"dev"' $(1) $(PKG_CFLAGS))
# $(call compile_entries,SOURCES,COMMAND): each ends in }@
compile_entries = $(foreach f,$(1),{"directory": "$(CURDIR)", "file": "$(f)", "command": "$(2) -c $(f)"}@)
.PHONY: compile_commands.json
compile_commands.json: ## write compile_commands.json, for clangd and other tools
	@$(MAKE) --no-print-directory -s generated
	$(eval all := $(call compile_entries,$(SRC),$(compile_command)) $(call compile_entries,$(TEST_SRC),$(call compile_command,$(TEST_CPPFLAGS))))
	$(file >$@.tmp,[$(subst }@,}$(comma)$(newline),$(subst }@END,},$(all)END))])
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

# ---- other builds ----------------------------------------------------------------------------------
.PHONY: debug coverage
debug: ## build without optimization and with all of gdb's information, in build/debug
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/debug RELEASE='-O0 -g3 -ffunction-sections -fdata-sections' $(PROGRAMS:%=LIBM_%=-lm) build

coverage: deps-tests ## run the tests in a build with --coverage, print what they run: TESTS=REGEX, T=DISTRICT
	@hack/coverage.sh

# ---- documents -------------------------------------------------------------------------------------
.PHONY: map
map: ## draw docs/architecture.svg from docs/architecture.map
	@hack/map.py

.PHONY: walk page-picture
page-picture: ## take docs/page.png, as the page's test sees it (Chromium)
	@rm -f $(BUILD)/test/pictures/half.png
	@$(MAKE) --no-print-directory -s test TESTS='^page_test$$'
	@cp $(BUILD)/test/pictures/half.png docs/page.png

walk: ## record a walk of recipes/nvidia-mig, and draw docs/walk.svg from it
	@$(MAKE) --no-print-directory -s build
	@hack/walk.py --record $(BUILD)/slipway

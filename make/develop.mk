# develop.mk: what a developer uses beside build and test.

.PHONY: measure
measure: ## figures about the code, of this tree or TREE=path: LIST=once, O=json
	@hack/measure-code.py $(TREE) $(if $(LIST),--list $(LIST)) $(if $(O),-o $(O))

# Calls of scripts/, each of which sets up what it needs on a bare Debian machine with rustup, node, npm and python3, and the
# steps of `make check`, `make test` and `make prove`: scripts/steps.mk.
.PHONY: demo check test prove ci package bench docs soak site serve

demo: ## processes that are killed, forked and set back an hour repeat no ID; others' packages beside them
	@scripts/demo.sh

check: ## format, lints, types, unit tests and vectors: a minute or so, for ONLY=rust, service, python or npm
	@scripts/suite.sh $(call of_part,$(checks))

test: ## all that a change can break, on real stores and browsers: minutes, for ONLY=rust, service, python or npm
	@scripts/suite.sh $(call of_part,$(tests))

prove: ## models, Miri, fuzzing, mutants, optimised code, long rounds, packages in foreign runtimes: half an hour, QUICK=yes a third
	@PROFILE=$(if $(QUICK),dev,optimised) scripts/suite.sh $(call of_part,$(proofs))

ci: ## what .ci/run runs: `make test` and the quick proofs in one run
	@QUICK=yes PROFILE=dev scripts/suite.sh $(ci)

package: ## dist/: the wheel, the sdist and the npm tarballs
	@scripts/package.sh

bench: ## contenders side by side, as medians and ratios, for ONLY=rust, python, js or service, and ONLY=stores or herd; benches/README.md
	@python3 benches/run.py $(ONLY:%=--only %)

docs: ## target/docs/site/index.html: the guides, the references and the inspector
	@scripts/docs.sh

site: ## npm/site/dist/index.html: the inspector, a page in one file
	@scripts/build-site.sh

serve: ## the service with the inspector at http://127.0.0.1:8080/, for ARGS such as --store=postgres://ids@db/ids
	@scripts/build-site.sh
	@cargo run --quiet --locked --release -p snowmint-server -- serve $(ARGS)

soak: ## the random tests, and the nemesis over all engines, for HOURS=1
	@scripts/soak.sh $(HOURS)

include scripts/steps.mk

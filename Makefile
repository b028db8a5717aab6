# Thin calls of scripts/; each sets up what it needs on a bare Debian machine with rustup, node, npm and python3.
.PHONY: demo test package

demo: ## mint and read IDs in Rust, Python, Node and a browser, and compare
	@scripts/demo.sh

test: ## everything, with a count at the end
	@scripts/test.sh

package: ## dist/: the wheel, the sdist and the npm tarballs
	@scripts/package.sh

.PHONY: test
test:
	cargo test --release

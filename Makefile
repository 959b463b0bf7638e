# One command a verb, the same by hand and in CI. What takes more than three lines is in .ci.
#
# STRICT=1 turns warnings into errors; `make check` always does. Plain builds don't, so that a newer
# Swift with a warning to tell keeps nobody from trying this out.

PREFIX ?= /usr/local
STRICT ?=
export STRICT

swift_sources = Package.swift Sources Tests Fuzz \
  Samples/Package.swift Samples/Sources Benchmarks/Package.swift Benchmarks/Sources

.PHONY: demo test test-release test-long test-browser check lint samples zoo sanitize fuzz bench format install clean

# Sends files of several kinds to a receiver of its own, and compares what arrived.
demo:
	@.ci/install demo
	@.ci/demo

test:
	@.ci/install test
	.ci/swift build . --build-tests
	.ci/tests --parallel

# The tests in a release build, where those of every size run over all sizes and all reads.
test-release:
	@.ci/install test
	.ci/swift build . -c release --build-tests -Xswiftc -enable-testing
	.ci/tests -c release -Xswiftc -enable-testing

# What takes minutes: files of 1 GiB that change while they are sent, 200 times; and a receiver with thousands
# of uploads, with 64 GiB at once, on a full disk, killed, and with clients that are killed or slow.
test-long:
	@.ci/install test long
	@.ci/long

# Chromium: what it sends for awkward forms, against ours; and the page of `formstream receive`, by mouse and
# keyboard. SCREENSHOTS=dir keeps pictures of the page there.
test-browser:
	@.ci/install browser
	.ci/swift build . --product formstream
	Tests/Browser/run "$$(.ci/swift build . --show-bin-path)/formstream"

# Style, warnings in every build, linkage, samples, demo, zoo.
check: export STRICT = 1
check:
	@.ci/install check zoo
	@.ci/check

lint:
	swift format lint --strict --parallel -r $(swift_sources)

format:
	swift format --in-place --parallel -r $(swift_sources)

# Builds and runs the programs in Samples.
samples:
	@.ci/samples

# Our bodies read by seven foreign parsers, and bodies of foreign clients by ours.
zoo:
	@.ci/install zoo
	@.ci/zoo

# Tests under the address and thread sanitizers, and a search for leaks.
sanitize:
	@.ci/install sanitize
	@.ci/sanitize

# Looks for inputs that break what Fuzz/README.md says must hold: 10 minutes a target, or
# FUZZ='60 parser' for 60 seconds of one.
fuzz:
	@.ci/install fuzz
	@.ci/fuzz $(FUZZ)

# Measures against the bars that Benchmarks/README.md explains. BENCH=--record keeps the figures.
bench:
	@.ci/install bench
	Benchmarks/run $(BENCH)

# The command, its man page and its completions. DESTDIR is honoured.
install:
	@.ci/install demo
	@.ci/install-command "$(DESTDIR)$(PREFIX)"

clean:
	rm -rf .build Samples/.build Benchmarks/.build

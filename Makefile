# One command per verb, the same by hand and in CI. A target of more than three lines is a script in .ci.
#
# STRICT=1 turns warnings into errors, and `make check` always does. Plain builds don't, so that a newer Swift
# with new warnings can still build the package.

PREFIX ?= /usr/local
STRICT ?=
export STRICT

swift_sources = Package.swift Sources Tests Fuzz \
  Samples/Package.swift Samples/Sources Benchmarks/Package.swift Benchmarks/Sources Benchmarks/peers

.PHONY: demo test test-narrow test-release test-long test-many test-get test-slurm test-browser recording check api docs lint spelling samples consumers zoo curl-suite peers sanitize fuzz mutations bench bench-setup format order deb test-deb test-debian13 install uninstall clean

# Starts a receiver, sends files of several kinds to it, and compares what arrived.
demo:
	@.ci/install demo
	@.ci/demo

# The suites of all modules.
test:
	@.ci/install test
	.ci/swift build . --build-tests
	.ci/tests

# The same in a network of its own that has 4,000 ports for connections. Only root may make one.
test-narrow:
	@.ci/install test
	.ci/swift build . --build-tests
	.ci/narrow-ports .ci/tests

# The tests in a release build, in which the tests of each size try all sizes and all read sizes.
test-release:
	@.ci/install test
	.ci/swift build . -c release --build-tests -Xswiftc -enable-testing
	.ci/tests -c release -Xswiftc -enable-testing

# Tests that take minutes: all cells of the grids of which `make test` tries a part, 200 files of 1 GiB that change while they are sent, and a receiver with thousands of
# uploads, with 64 GiB at once, on a full disk, killed, and with clients that are killed or slow.
test-long:
	@.ci/install test long
	@.ci/long

# Tests of sending many files that take minutes: a million files, hundreds of runs that are killed, servers and files
# that fail or change. MANY='awkward_names killed_at_random' runs these trials.
test-many:
	@.ci/install many
	@.ci/many many-files.py $(MANY)

# Downloads that are killed at fifty random moments, and continued. KILLS=500 kills them 500 times.
test-get:
	@.ci/install many
	@.ci/many downloads.py $(KILLS)

# Sends a manifest by a Slurm of three nodes on this machine, which fail. Only root may run it.
test-slurm:
	@.ci/install many slurm
	@.ci/many slurm.py $(MANY)

# Compares what Chromium sends for awkward forms with what FormStream sends, and uses the page of
# `formstream receive` by mouse and keyboard. SCREENSHOTS=DIR keeps pictures of the page.
test-browser:
	@.ci/install browser
	.ci/swift build . --product formstream
	Tests/Browser/run "$$(.ci/swift build . --show-bin-path)/formstream"

# Records the display of `send` at 80 and 40 columns, while the terminal's size changes, and at Ctrl-C, and checks it.
# The recordings are in .build/recordings.
recording:
	@.ci/install recording
	.ci/swift build . --product formstream
	Tests/Terminal/record "$$(.ci/swift build . --show-bin-path)/formstream" .build/recordings

# Style, spelling, links, imports, pictures of the benchmarks, warnings in each build, the sources of the fuzz targets, the public API and its documentation, the examples of the pages, installing and removing, samples, linkage, demo, zoo, real servers, sixty tests of curl's suite.
check: export STRICT = 1
check:
	@.ci/install check zoo peers suite
	@.ci/check

# Accepts changes of the public API: writes it into the folder api, with which `make check` compares it.
api:
	@.ci/install demo
	.ci/swift build .
	@.ci/api

# Makes the documentation of the library's products from the comments and articles in Sources, as a web site in .build/docs.
# DOCS='--hosting-base-path PATH' is for a site that is not at the root of its server.
docs:
	@.ci/install demo
	.ci/swift build .
	@.ci/docs .build/docs $(DOCS)

lint:
	swift format lint --strict --parallel -r $(swift_sources)

format:
	swift format --in-place --parallel -r $(swift_sources)

# Spelling of pages, comments and messages. `.ci/words.txt` has the words that no dictionary has.
spelling:
	@.ci/install check
	@.ci/spelling

# Builds a package for each product, without the system packages that README doesn't name for it.
consumers:
	@.ci/install demo
	@.ci/consumers

# Builds and runs the programs in Samples.
samples:
	@.ci/samples

# Seven other parsers read FormStream's bodies, and FormStream parses the bodies of other clients.
zoo:
	@.ci/install zoo
	@.ci/zoo

# Runs the tests of curl's own suite that need only an http server with curl and with formstream, and compares what they
# did. SUITE='--only 6,10 --details' shows these tests.
curl-suite:
	@.ci/install suite
	@.ci/curl-suite $(SUITE)

# Posts to nginx, Apache, Caddy, Go's net/http and nghttpd, and compares what the library says with what they did.
# PEERS='nginx restart' runs the rows with both words.
peers:
	@.ci/install peers
	@.ci/peers $(PEERS)

# The tests under the address and thread sanitizers, with a search for leaks.
sanitize:
	@.ci/install sanitize
	@.ci/sanitize

# Looks for inputs that break the properties in Fuzz/README.md: 10 minutes per target, or FUZZ='60 parser' for
# 60 seconds of one.
fuzz:
	@.ci/install fuzz
	@.ci/fuzz $(FUZZ)

# Breaks the code on purpose, one line at a time: a test must fail each time. MUTATIONS='--only NAME' tries one,
# MUTATIONS='--random 70' as many.
mutations:
	@.ci/install test
	@.ci/mutations $(MUTATIONS)

# `make demo` and `make test` on Debian 13, which it sets up in .build/debian13. Tests that fail there are listed, with their
# reasons, in Tests/Debian13/expected-failures.txt. Only root may run it.
test-debian13:
	@.ci/install test debian13
	@.ci/debian13

# Installs the programs that `formstream bench` and `make bench` compare with.
bench-setup:
	@.ci/bench-setup

# Measures against the bars that Benchmarks/README.md explains. BENCH=--record keeps the figures.
bench:
	@.ci/install bench
	Benchmarks/run $(BENCH)

# Finds the functions that short runs of the command use, for the linker, and writes them into .ci/functions.order.
order:
	@.ci/install sanitize
	@.ci/order

# Installs the command, its pages of the manual and its completions. DESTDIR is honored.
install:
	@.ci/install demo
	@.ci/install-command "$(DESTDIR)$(PREFIX)"

# Removes what `make install` installed, with the same PREFIX and DESTDIR.
uninstall:
	@.ci/uninstall-command "$(DESTDIR)$(PREFIX)"

# Builds the Debian package of the command: .build/deb/formstream_VERSION_ARCHITECTURE.deb.
deb:
	@.ci/install deb
	@.ci/deb

# Checks the Debian package with lintian, and installs, uses and removes it in a bare Debian of this machine's release.
test-deb:
	@.ci/install deb package
	@.ci/deb-test

clean:
	rm -rf .build Samples/.build Benchmarks/.build Benchmarks/peers/*/.build

# `make` lists the targets.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR = $(PREFIX)/bin
UNITDIR = $(PREFIX)/lib/systemd/system
SHAREDIR = $(PREFIX)/share
SYSUSERSDIR = $(PREFIX)/lib/sysusers.d
DEFAULTSDIR = /etc/default
# Where the shells look for completions, below SHAREDIR.
completions = bash-completion/completions/$(1) zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)/_$(1) \
  fish/vendor_completions.d/$(1).fish
install-completions = cd Sources/Programs/$(1)/completions && for to in $(call completions,$(1)); do from=$$(basename $$to); \
  [ -f $$from ] || from=$$from.bash; install -D -m 644 $$from '$(DESTDIR)$(SHAREDIR)'/$$to || exit 1; done

# Flags for the daemon under `make run`, a regular expression for `make test`.
ARGS ?=
FILTER ?=
# STRICT=1 makes warnings errors. It is off by default, because a newer compiler may have new warnings.
STRICT ?=
# Three things make debug builds faster:
# - no index of the system's modules (SwiftPM only needs the index of the tests); it took a third of the CPU time of Wire;
# - no debug information (DEBUG_INFO=dwarf adds it); it took a seventh of all CPU time;
# - more files for each compiler process, so that fewer processes read the same module.
DEBUG_INFO ?= none
SWIFTFLAGS ?= -debug-info-format $(DEBUG_INFO) -Xswiftc -driver-batch-size-limit -Xswiftc 100 \
  -Xswiftc -index-ignore-system-modules -Xswiftc -index-ignore-clang-modules \
  $(if $(STRICT),-Xswiftc -warnings-as-errors)
FILTERFLAGS = $(if $(FILTER),--filter '$(FILTER)')

# The Swift library is linked statically: the binary then needs C libraries only, and uses less memory.
# Only debug builds, in which all tests run, check exclusive access at run time. The checks took a seventh of the daemon's instructions
# for an ale.
# All programs use the same flags, so that they share compiled modules.
OPTIMIZED = -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked
RELEASEFLAGS = $(OPTIMIZED) --product letsswitchd
BINARY = .build/release/letsswitchd
COMMAND = .build/release/letsswitch
SOURCES = Package.swift $(shell find Sources -type f)
SETUP = sh Sources/Scripts/set-up.sh
TEST = sh Sources/Scripts/test.sh
TEST_STEADY = sh Sources/Scripts/test-steady.sh

.PHONY: help
help: ## print this list
	@echo "make TARGET, where TARGET is one of:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: release ## build a release and serve on 127.0.0.1:8080, data in .letsswitch (ARGS="--flags")
	@LETSSWITCH_STATE_DIR="$${LETSSWITCH_STATE_DIR:-$(CURDIR)/.letsswitch}" exec $(BINARY) $(ARGS)

.PHONY: test
test: setup-test ## run every test (FILTER=regex for some, TESTS_AT_ONCE=, STRICT=1 makes warnings errors)
	@$(TEST) $(SWIFTFLAGS) $(FILTERFLAGS)

# The number of runs, and some of the conditions: alone busy one many order. The script says what each is.
RUNS ?= 6
CONDITIONS ?= alone busy one many order

.PHONY: test-steady
test-steady: setup-test ## run every test again and again under changing conditions (RUNS=6, CONDITIONS="busy one", FILTER=)
	@RUNS='$(RUNS)' CONDITIONS='$(CONDITIONS)' FILTER='$(FILTER)' $(TEST_STEADY) $(SWIFTFLAGS)

.PHONY: test-tsan
test-tsan: DEBUG_INFO = dwarf
test-tsan: setup-test ## run the tests under ThreadSanitizer
	@$(TEST) $(SWIFTFLAGS) --sanitize=thread --scratch-path .build-thread $(FILTERFLAGS)

.PHONY: screenshots
screenshots: setup-test ## renew the pictures of the pages
	LETSSWITCH_SCREENSHOTS='$(CURDIR)/Sources/Features' swift test $(SWIFTFLAGS) --filter PageScreenshots

# Tests that need another server or take more than half a minute. `make test` runs a short form of them, and says so.
.PHONY: interop
interop: torture interop-daemons interop-rabbitmq interop-cable interop-prometheus interop-openapi interop-autobahn interop-client ## run the long tests that `make test` runs a short form of

.PHONY: interop-rabbitmq
interop-rabbitmq: setup-interop ## interop: everything that needs RabbitMQ
	@LETSSWITCH_INTEROP=1 $(TEST) $(SWIFTFLAGS) --filter RabbitMQ

.PHONY: interop-cable
interop-cable: setup-interop ## interop: Action Cable with the server and client of Rails, and with Python clients
	@LETSSWITCH_INTEROP=1 $(TEST) $(SWIFTFLAGS) --filter 'RailsTests|CablePythonTests|CablePageTests|CableBrowserTests|CableServerTests|ChatExampleTests'

.PHONY: interop-autobahn
interop-autobahn: setup-interop ## interop: Autobahn's fuzzing server tests the client's WebSocket
	@LETSSWITCH_INTEROP=1 $(TEST) $(SWIFTFLAGS) --filter AutobahnTests

.PHONY: interop-client
interop-client: setup-test ## interop: a separate package uses LetsSwitchClient and is measured; ten thousand reconnects
	@LETSSWITCH_INTEROP=1 $(TEST) $(SWIFTFLAGS) --filter 'OutsidePackageTests|LetsSwitchClientTests.LeakTests'

.PHONY: interop-prometheus
interop-prometheus: setup-interop ## interop: promtool checks the metrics and tests the alert rules
	@LETSSWITCH_INTEROP=1 $(TEST) $(SWIFTFLAGS) --filter PrometheusTests

.PHONY: interop-openapi
interop-openapi: setup-interop ## interop: other tools read /openapi.json and try every route
	@LETSSWITCH_INTEROP=1 $(TEST) $(SWIFTFLAGS) --filter 'OpenAPIToolTests|SocketSchemaTests'

# The number of times that a daemon or the database is killed. LETSSWITCH_TEST_SEED repeats a run.
TORTURE_KILLS ?= 200

.PHONY: torture
torture: setup-test ## interop: kill -9 daemons and databases 200 times (TORTURE_KILLS=), and check the stored data
	@LETSSWITCH_TORTURE_KILLS='$(TORTURE_KILLS)' $(TEST) $(SWIFTFLAGS) --filter TortureTests

.PHONY: interop-daemons
interop-daemons: setup-interop ## interop: one of three daemons stops for half a minute; three daemons behind nginx
	@LETSSWITCH_INTEROP=1 $(TEST) $(SWIFTFLAGS) --filter 'DaemonLossTests|NginxTests'

# Leak detection is off, because leaks in XCTest would fail every run.
.PHONY: test-asan
test-asan: DEBUG_INFO = dwarf
test-asan: setup-test ## run the tests under AddressSanitizer
	@ASAN_OPTIONS=detect_leaks=0 $(TEST) $(SWIFTFLAGS) --sanitize=address --scratch-path .build-address $(FILTERFLAGS)

# libFuzzer starts from the corpora and looks for inputs that break a property in Tests/Fuzz/Properties. It writes them to
# .build-fuzz/findings. Inputs that reach new code are kept in .build-fuzz/corpora; `make fuzz-corpora` checks in the fewest of them with the
# same coverage. The backtracer is off, because it can hang on a process that the fuzzer ends.
FUZZ ?= http websocket deflate message cable questions conversations topics bus proxy forwarded request response events answers client schedule
FUZZ_SECONDS ?= 60
FUZZFLAGS = --sanitize=fuzzer --sanitize=address --scratch-path .build-fuzz
FUZZER = SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 FUZZ_TARGET=$$target .build-fuzz/debug/fuzz

.PHONY: fuzz
fuzz: fuzz-build ## fuzz every parser of untrusted bytes (FUZZ="http proxy" for some, FUZZ_SECONDS=60 each)
	@set -e; for target in $(FUZZ); do \
		mkdir -p .build-fuzz/corpora/$$target .build-fuzz/findings; \
		echo "fuzz: $$target"; \
		$(FUZZER) -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -verbosity=0 -print_final_stats=1 \
			-dict=Tests/Fuzz/Dictionaries/$$target.dict -artifact_prefix=.build-fuzz/findings/$$target- \
			.build-fuzz/corpora/$$target Tests/Fuzz/Corpora/$$target; \
	done

.PHONY: fuzz-corpora
fuzz-corpora: fuzz-build ## add the inputs that fuzzing found to the checked-in corpora
	@set -e; for target in $(FUZZ); do \
		rm -rf .build-fuzz/merged; mkdir -p .build-fuzz/merged .build-fuzz/corpora/$$target; \
		$(FUZZER) -set_cover_merge=1 -max_len=1024 -verbosity=0 .build-fuzz/merged Tests/Fuzz/Corpora/$$target .build-fuzz/corpora/$$target; \
		rm -rf Tests/Fuzz/Corpora/$$target; mkdir Tests/Fuzz/Corpora/$$target; \
		ls -S .build-fuzz/merged | head -n 100 | while read -r name; do \
			cp .build-fuzz/merged/$$name Tests/Fuzz/Corpora/$$target/; \
		done; \
	done

.PHONY: fuzz-build
fuzz-build: setup
	@LETSSWITCH_FUZZ=1 swift build --product fuzz $(FUZZFLAGS)

BENCHFLAGS = $(OPTIMIZED) --product letsswitch-bench
BENCH = .build/release/letsswitch-bench

.PHONY: bench
bench: release bench-build ## measure the daemon and a bare relay (ARGS="--only ale --rounds 3", --help)
	$(BENCH) table --json .build/bench.json $(ARGS)

.PHONY: bench-hour
bench-hour: release bench-build ## measure 8,000 matches that are due at the same second
	$(BENCH) hour --json .build/bench-hour.json $(ARGS)

.PHONY: bench-registrations
bench-registrations: release bench-build ## measure POST /task and GET /schedule, compared with pgbench
	$(BENCH) registrations --json .build/bench-registrations.json $(ARGS)

.PHONY: bench-stored
bench-stored: release bench-build ## measure statements with 1,000 and with 1,000,000 stored tasks and messages
	$(BENCH) stored --json .build/bench-stored.json --plans .build/bench-stored-plans.txt $(ARGS)

.PHONY: bench-talk
bench-talk: release bench-build ## measure POST /messages and conversation sockets, compared with pgbench, and with fifty participants
	$(BENCH) talk --json .build/bench-talk.json $(ARGS)

.PHONY: bench-questions
bench-questions: release bench-build ## measure 1,000 people in one question session for a minute
	$(BENCH) questions --json .build/bench-questions.json $(ARGS)

.PHONY: bench-bus
bench-bus: release bench-build ## measure two and three daemons on one database, compared with NOTIFY and RabbitMQ
	$(BENCH) bus --json .build/bench-bus.json $(ARGS)

# Uses the debug build, because the recorder belongs to the tests. A release is faster than the result.
.PHONY: bench-push
bench-push: setup-test ## send 10,000 push notifications that are due at the same second, through nghttpx
	LETSSWITCH_PUSH_LOAD=10000 swift test $(SWIFTFLAGS) --filter APNsLoadTests

.PHONY: bench-build
bench-build: setup
	swift build $(BENCHFLAGS)

.PHONY: build
build: setup ## build for debugging
	swift build $(SWIFTFLAGS)

.PHONY: release
release: setup ## build a release
	swift build $(RELEASEFLAGS)
	@touch $(BINARY)

# `install` may run as root without Swift in its PATH. It builds only if a source changed.
$(BINARY): $(SOURCES)
	swift build $(RELEASEFLAGS)
	@touch $@

$(COMMAND): $(SOURCES)
	swift build $(subst letsswitchd,letsswitch,$(RELEASEFLAGS))
	@touch $@

.PHONY: install
install: install-daemon install-command ## install the daemon, its systemd unit and the command (PREFIX=/usr/local, DESTDIR=)

.PHONY: install-daemon
install-daemon: $(BINARY)
	install -D -m 755 $(BINARY) '$(DESTDIR)$(BINDIR)/letsswitchd'
	install -D -m 644 Sources/Programs/letsswitchd/letsswitchd.8 '$(DESTDIR)$(SHAREDIR)/man/man8/letsswitchd.8'
	$(call install-completions,letsswitchd)
	install -d '$(DESTDIR)$(UNITDIR)'
	sed 's|@BINDIR@|$(BINDIR)|g' Sources/Programs/letsswitchd/systemd/letsswitchd.service >'$(DESTDIR)$(UNITDIR)/letsswitchd.service'
	chmod 644 '$(DESTDIR)$(UNITDIR)/letsswitchd.service'
	install -D -m 644 Sources/Programs/letsswitchd/systemd/letsswitch.sysusers '$(DESTDIR)$(SYSUSERSDIR)/letsswitch.conf'
	[ -e '$(DESTDIR)$(DEFAULTSDIR)/letsswitch' ] || \
	  install -D -m 644 Sources/Programs/letsswitchd/systemd/letsswitch.default '$(DESTDIR)$(DEFAULTSDIR)/letsswitch'

.PHONY: install-command
install-command: $(COMMAND)
	install -D -m 755 $(COMMAND) '$(DESTDIR)$(BINDIR)/letsswitch'
	install -D -m 644 Sources/Programs/letsswitch/letsswitch.1 '$(DESTDIR)$(SHAREDIR)/man/man1/letsswitch.1'
	$(call install-completions,letsswitch)

.PHONY: uninstall
uninstall: ## remove the installed files; data, settings and the user stay
	rm -f '$(DESTDIR)$(BINDIR)/letsswitchd' '$(DESTDIR)$(UNITDIR)/letsswitchd.service' '$(DESTDIR)$(SYSUSERSDIR)/letsswitch.conf'
	rm -f '$(DESTDIR)$(BINDIR)/letsswitch'
	cd '$(DESTDIR)$(SHAREDIR)' && rm -f man/man1/letsswitch.1 man/man8/letsswitchd.8 \
	  $(call completions,letsswitch) $(call completions,letsswitchd)

# The packages contain the files of `make install`, and the files that Debian requires.
DEB = .build/deb
.PHONY: deb
deb: setup-deb packages ## make Debian packages of the daemon and the command, in .build/deb
	lintian --fail-on error --suppress-tags bad-distribution-in-changes-file $(DEB)/*.deb

.PHONY: packages
packages: $(BINARY) $(COMMAND)
	rm -rf '$(DEB)'
	$(MAKE) --no-print-directory install-daemon PREFIX=/usr DESTDIR='$(abspath $(DEB))/letsswitchd'
	$(MAKE) --no-print-directory install-command PREFIX=/usr DESTDIR='$(abspath $(DEB))/letsswitch'
	sh Sources/Scripts/deb.sh '$(DEB)'

.PHONY: format
format: ## format the sources
	swift format --in-place --recursive Package.swift Sources Tests

.PHONY: lint
lint: setup-test ## check the layout and the wording of the sources
	swift format lint --strict --recursive Package.swift Sources Tests
	/usr/bin/python3 Sources/Scripts/prose.py

.PHONY: clean
clean: ## remove everything that was built; data stay
	rm -rf .build .build-*

.PHONY: setup
setup:
	@$(SETUP) run

.PHONY: setup-test
setup-test:
	@$(SETUP) test

.PHONY: setup-deb
setup-deb:
	@$(SETUP) deb

.PHONY: setup-interop
setup-interop:
	@$(SETUP) interop

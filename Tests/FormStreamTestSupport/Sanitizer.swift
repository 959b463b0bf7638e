import Glibc

/// Which sanitizer the tests run under, `address` or `thread`; nil for none. `.ci/sanitize` says it.
public let sanitizer = getenv("SANITIZER").map { String(cString: $0) }

import Glibc

/// The sanitizer that the tests run under, `address` or `thread`, or nil for none. `.ci/sanitize` sets it.
public let sanitizer = getenv("SANITIZER").map { String(cString: $0) }

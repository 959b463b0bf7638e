import Glibc

/// The value of an environment variable; nil if it is not set.
///
/// C: `getenv`
package func environmentVariable(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}

import Glibc

/// A variable of this process's environment; nil if there is none of this name.
///
/// C: `getenv`
package func environmentVariable(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}

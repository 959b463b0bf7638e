import Foundation

/// A value that threads share, behind a lock.
///
/// Not a `Mutex`: the thread sanitizer can't see that Swift's orders anything.
package final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  /// Guarded by `lock`.
  private var value: Value

  package init(_ value: Value) {
    self.value = value
  }

  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&value)
  }
}

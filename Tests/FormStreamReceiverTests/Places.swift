import Foundation
import FormStreamTestSupport

/// The names in a directory, hidden ones too.
func names(in directory: TemporaryDirectory) -> [String] {
  (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
}

/// Lends something to one other thread, and waits for it.
struct Unsent<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

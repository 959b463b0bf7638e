import Foundation
import FormStreamTestSupport

extension TemporaryDirectory {
  /// The size of a file; nil if there is none.
  func size(of name: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
    return (attributes?[.size] as? NSNumber)?.intValue
  }

  /// The names in a directory inside this one.
  func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(directory)).sorted()
  }
}

import Foundation
import FormStreamTestSupport

extension TemporaryDirectory {
  /// The names in the directory, including hidden ones.
  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
}

import Foundation
import FormStreamTestSupport

extension TemporaryDirectory {
  /// The names in the directory, including hidden ones.
  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

  /// How many files of the directory this process has open that have no name yet, or a temporary one.
  var incompleteFiles: Int {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.count { number in
      let file = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(number)")
      return file?.hasPrefix("\(path)/#") == true || file?.hasPrefix("\(path)/.formstream-") == true
    }
  }
}

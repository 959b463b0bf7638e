public import Foundation

extension MultipartError: LocalizedError {
  /// The description, for programs that show `localizedDescription`.
  public var errorDescription: String? { description }
}

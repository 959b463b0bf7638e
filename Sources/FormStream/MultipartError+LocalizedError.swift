public import Foundation

extension MultipartError: LocalizedError {
  /// The full sentence, for whoever shows `localizedDescription`.
  public var errorDescription: String? { description }
}

import FormStreamTestSupport
import Testing

extension Trait where Self == ConditionTrait {
  /// For tests that limit the size of files: under such a limit, the thread sanitizer itself crashes.
  static var limitsFileSize: Self {
    .disabled(if: sanitizer == "thread", "the sanitizer itself crashes under a limit of the size of files")
  }
}

/// A number of things for messages: `1 file`, `2 files`.
///
/// - Parameters:
///   - one: the word for one thing.
///   - many: the word for any other number of things, including 0.
package func counted(_ count: some BinaryInteger, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}

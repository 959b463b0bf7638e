/// A number of things for messages: `1 file`, `2 files`.
///
/// - Parameters:
///   - one: what one of them is called.
///   - many: what several of them are called, or none.
package func counted(_ count: some BinaryInteger, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}

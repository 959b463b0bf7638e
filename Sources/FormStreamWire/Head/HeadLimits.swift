/// The limits of a head. A response's head is held in memory until it is complete, and these limits bound the memory.
package struct HeadLimits: Hashable, Sendable {
  /// The maximum number of bytes of a line, with its line break.
  package var line = 128 * 1024
  /// The maximum number of bytes of a head, with all line breaks.
  package var head = 256 * 1024
  /// The maximum number of headers, as in newer versions of curl.
  package var headers = 5000

  /// The limits of every response.
  package init() {}
}

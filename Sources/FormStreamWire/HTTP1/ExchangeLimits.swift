/// The limits of an exchange.
package struct ExchangeLimits: Hashable, Sendable {
  /// The limits of each head, and of the trailers.
  package var heads = HeadLimits()
  /// The maximum number of bytes of all interim heads and the trailers, while no byte of the request's body moves.
  package var interimBytes = 256 * 1024
  /// The maximum number of interim heads, while no byte of the request's body moves.
  package var interimHeads = 100

  /// The limits of every exchange.
  package init() {}
}

package import FormStreamMultipart

/// The head of a request, as it is written.
///
/// `HeadWriter` refuses what would break the framing, or what two programs could read in different ways. The layer that makes the
/// request checks the rest: other control characters in values, headers that no caller may set (`Connection`, `TE`, `Upgrade` and
/// the like), and which form of the target a method takes.
package struct RequestHead: Sendable {
  /// How the server finds the end of the body. It is also the only source of the header that says so.
  package enum Framing: Hashable, Sendable {
    /// There is no body, and no header that announces one.
    case none
    /// `Content-Length`.
    case length(Int64)
    /// `Transfer-Encoding: chunked`.
    case chunked
  }

  package var method: String
  /// The target, as it stands in the request line (RFC 9112 §3.2).
  package var target: String
  /// All headers but the one about the framing. Names are written as they are, in this order.
  package var headers: HTTPHeaders
  package var framing: Framing
  /// How many headers stand before the one about the framing; all of them if there are fewer.
  package var framingIndex: Int

  /// Whether the head announces a body that isn't empty.
  var hasBody: Bool { framing != .none && framing != .length(0) }

  package init(
    method: String, target: String, headers: HTTPHeaders, framing: Framing = .none,
    framingIndex: Int = .max
  ) {
    (self.method, self.target, self.headers) = (method, target, headers)
    (self.framing, self.framingIndex) = (framing, framingIndex)
  }
}

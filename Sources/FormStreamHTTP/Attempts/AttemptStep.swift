/// What an attempt asks of the server.
package enum AttemptStep: Sendable, Equatable {
  /// What the caller wants: the request itself.
  case request
  /// The page that a 303 named.
  case page
  /// How many bytes of an unfinished upload the server has.
  case offset
  /// To append the rest of an unfinished upload, from this offset on.
  case append(from: Int64)

  var isAppending: Bool { if case .append = self { true } else { false } }
}

/// What an attempt asks of the server.
package enum AttemptStep: Sendable, Equatable {
  /// What the caller wants: the request itself.
  case request
  /// The page that a 303 named.
  case page
  /// By which protocol uploads can go on.
  case options
  /// To create an upload, whose bytes follow.
  case creation
  /// How many bytes of an unfinished upload the server has.
  case offset
  /// To append bytes to an unfinished upload: from an offset of the body up to another one.
  case append(from: Int64, to: Int64)

  var isAppending: Bool { if case .append = self { true } else { false } }

  /// Whether the attempt only asks the server something.
  var isQuestion: Bool { self == .options || self == .offset }

  /// Whether the attempt only prepares the upload, or asks about it, and the server has nothing to carry out.
  var isAboutUpload: Bool {
    switch self {
    case .options, .creation, .offset: true
    case .request, .page, .append: false
    }
  }
}

import FormStreamMultipart
import FormStreamPlatform

/// URLs that can't be used.
extension TransferError {
  /// - Parameter text: the URL or the reference, which may contain secrets.
  static func invalidURL(_ text: String, _ flaw: URLFlaw) -> TransferError {
    let shown = text.hidingSecretsOfInvalidURL
    let subject = if case .credentialCharacter(let host) = flaw { host } else { shown }
    return TransferError(.invalidURL, on: subject, "\(flaw.sentence(about: shown))")
  }

  static let emptyReference = TransferError(
    .invalidURL, on: "", "An empty reference names no URL: the server must name one.")
}

/// Headers that can't be set.
extension TransferError {
  /// - Parameter flaw: a sentence about the header.
  static func headerUnusable(_ name: String, _ flaw: String) -> TransferError {
    TransferError(.invalidHeader, on: name, "\(flaw)")
  }

  static func headerOfOneRequest(_ name: String) -> TransferError {
    TransferError(
      .invalidHeader, on: name,
      "The header \(name) is about one request, and can't be one that a session sends with all: set it in the request.")
  }

  static func secondHeader(_ name: String) -> TransferError {
    TransferError(
      .invalidHeader, on: name,
      "The header \(name) is there more than once: leave all but one of them out.")
  }

  static func tooManyHeaders(_ last: String, limit: Int) -> TransferError {
    TransferError(
      .invalidHeader, on: last,
      "The header \(last.quoted) is one too many: a request can have at most \(limit).")
  }

  static func contentType(_ value: String, lacksBoundary boundary: String) -> TransferError {
    TransferError(
      .invalidHeader, on: "Content-Type",
      "The header Content-Type \(value.quoted) doesn't fit the form: leave it out, or name a multipart type with the "
        + "form's boundary, \(boundary.quoted).")
  }

  static func header(_ name: String, besideOption setting: SettingName) -> TransferError {
    TransferError(
      .invalidHeader, on: name,
      "The header \(name) can't be set beside the option that sends it (\(setting)): leave one of them out."
    )
  }

  static let codingOfCompressedBody = TransferError(
    .invalidHeader, on: "Content-Encoding",
    "The header Content-Encoding can't be set if the body is compressed (\(SettingName.bodyCoding)): leave one of them "
      + "out.")
}

extension Message {
  /// Why a session doesn't reach a host over http.
  static let onlyEncrypted: Message =
    "the session allows only https (requiresHTTPS), except to the hosts in unencryptedHosts"
}

/// Options that a request can't have.
extension TransferError {
  static func notEncrypted(_ url: HTTPURL) -> TransferError {
    TransferError(
      .encryptionRequired, on: url.description,
      "The request to \(url) would not be encrypted, and \(Message.onlyEncrypted): use https, or add the host to them.")
  }

  static func rateTooSmall(_ rate: Int64) -> TransferError {
    TransferError(
      .invalidSetting, on: "maximumRate",
      "A body can't be sent at \(counted(rate, "byte", "bytes")) a second: allow 1 or more.")
  }

  static let bodyOfHEAD = TransferError(
    .invalidSetting, on: "HEAD",
    "A HEAD request can't have a body: remove the body, or use GET or POST.")
}

/// Bodies that can't be read, or can't be read in time.
extension TransferError {
  static func bodyTooShort(_ size: Int64, announced: Int64) -> TransferError {
    TransferError(
      .streamTooShort, on: "the body",
      "The body ended after \(size) of the \(counted(announced, "byte that was", "bytes that were")) announced."
    )
  }

  /// - Parameter length: the length of the body; nil if it is not known.
  static func digestOfOneShot(length: Int64?) -> TransferError {
    TransferError(
      .notReplayable, on: "the body",
      "A Content-Digest reads the body twice, and this body is a stream that can be read once: leave the header out, or "
        + "\(onceRemedy(length: length)).")
  }

  static let digestChanged = TransferError(
    .sourceChanged, on: "the body",
    "The body has other bytes than when its Content-Digest was computed, so its end was not sent: send it again when "
      + "nothing writes to its files, or make its streams the same each time.")

  static func digestFailed(_ error: any Error) -> TransferError {
    TransferError(.engineFailed, on: "the digest", "\(error)", underlying: error)
  }

  static let notCompressible = TransferError(
    .engineFailed, on: "the body", "The body can't be compressed: there is not enough memory.")

  /// The body may have to be waited for, and the system can't start a thread to wait.
  static let noThreadForBody = TransferError(
    MultipartError(.streamFailed, on: "the body", noThread.message))

  static func notPrepared(
    by step: BodyPreparation, within limit: Duration
  ) -> TransferError {
    let (done, remedy) = step.words
    let result = step == .counting ? "it was not sent again" : "nothing was sent"
    return TransferError(
      .timedOut, on: "the body",
      "The body could not be \(done) within \(limit.inSeconds), so \(result): \(remedy), or raise the limit "
        + "(\(SettingName.attemptLimit)).")
  }
}

extension BodyPreparation {
  /// What could not be done in time, and what to do about it other than raising the limit.
  fileprivate var words: (done: String, remedy: Message) {
    switch self {
    case .measuring: ("measured", "check the disk or the program that it is read from")
    case .readingAhead:
      ("read ahead", "let less of it be read before it is sent (\(SettingName.readAhead))")
    case .storing:
      (
        "stored",
        "let it be sent as it comes, if the server takes that (without \(SettingName.spooling))"
      )
    case .hashing:
      ("read for its Content-Digest", "check the disk or the program that it is read from")
    case .counting:
      (
        "read once more for its length, which the server demands",
        "check the disk or the program that it is read from"
      )
    }
  }
}

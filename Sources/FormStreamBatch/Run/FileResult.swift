import FormStreamDigest
public import FormStreamMediaTypes
public import FormStreamPlatform

/// Why a file was not accepted.
public struct FileFailure: Hashable, Sendable, CustomStringConvertible {
  /// The error's code, such as `source-changed`. It is that of a ``BatchError``, or of an error of FormStreamHTTP or
  /// FormStreamMultipart.
  public var code: String
  /// A full sentence for people.
  public var description: String { message.description }
  /// The sentence of ``description``, with the settings in it as values instead of text.
  package var message: Message

  package init(code: String, message: Message) {
    (self.code, self.message) = (code, message)
  }

  /// The same failure with other names of the settings in its message.
  func naming(by name: (any MessageSetting) -> String) -> FileFailure {
    FileFailure(code: code, message: Message(message.text(naming: name)))
  }

  init(_ error: BatchError) {
    self.init(code: error.code.rawValue, message: error.message)
  }
}

/// What became of a file of a batch.
public struct FileResult: Sendable {
  /// The response to the last request for the file, without its headers.
  public struct Response: Hashable, Sendable {
    /// The largest number of body bytes in a result.
    static let limit = 4096

    /// The beginning of the body, decoded as its headers say.
    public internal(set) var body: [UInt8]
    /// Whether the body has more bytes.
    public internal(set) var isTruncated: Bool
    /// The value of `Content-Type`; nil if there is none.
    var type: String?
  }

  /// The file as it was listed.
  public let file: BatchFile
  /// The id of the manifest; nil if there is none.
  let manifest: String?
  /// The media type that was sent, and how it was found; nil if the file was not sent.
  public let type: SniffedType?
  /// The digest of the file, if one was made.
  public let sha256: SHA256Digest?
  /// Where the file was sent.
  public let url: String
  /// The status of the last response; nil if there was none.
  public let status: Int?
  /// What became of the file.
  public let state: BatchState
  /// How many requests were made for the file.
  public let attempts: Int
  /// Whether the server may have accepted the file before, in an earlier run.
  public let maybeDuplicate: Bool
  /// How many bytes of the last request's body were sent.
  public let bytesSent: Int64
  /// How long all requests for the file took.
  public let duration: Duration
  /// When the first request for the file began, in nanoseconds since 1970; nil if none did.
  let begun: Int64?
  /// When the outcome was known, in nanoseconds since 1970.
  let ended: Int64
  /// The beginning of the last response; nil if there was none.
  public let response: Response?
  /// What the server calls the file; nil if the file was not accepted, or no value was to be kept.
  package var value: ResponseValue?
  /// Why the file was not accepted; nil if it was accepted.
  public internal(set) var error: FileFailure?
  /// Whether an earlier run has delivered the file.
  var isAcceptedEarlier = false
  /// Whether the server may have the file although it may be sent again: the server has failed with a request, which has an idempotency
  /// key or uses PUT. The journal says so in a line of its own.
  var isStoredPerhaps = false
  /// The file that was read for the last request; nil if there was none.
  var identity: FileIdentity?
}

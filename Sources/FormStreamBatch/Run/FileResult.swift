package import FormStreamPlatform
import FormStreamDigest
import FormStreamMediaTypes

/// Why a file was not accepted.
package struct FileFailure: Hashable, Sendable {
  /// The error's code, such as `source-changed`.
  package var code: String
  /// A full sentence for people.
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
package struct FileResult: Sendable {
  /// The response to the last request for the file, without its headers.
  struct Response: Hashable, Sendable {
    /// The largest number of body bytes in a result.
    static let limit = 4096

    /// The beginning of the body.
    var body: [UInt8]
    /// Whether the body has more bytes.
    var isTruncated: Bool
  }

  package let file: BatchFile
  /// The id of the manifest; nil if there is none.
  let manifest: String?
  /// The media type that was sent, and how it was found; nil if the file was not sent.
  let type: SniffedType?
  /// The digest of the file, if one was made.
  let sha256: SHA256Digest?
  let url: String
  package let status: Int?
  package let state: BatchState
  /// How many requests were made for the file.
  let attempts: Int
  /// Whether the server may have accepted the file before, in an earlier run.
  let maybeDuplicate: Bool
  /// How many bytes of the last request's body were sent.
  let bytesSent: Int64
  /// How long all requests for the file took.
  let duration: Duration
  let response: Response?
  /// What the server calls the file; nil if the file was not accepted, or no value was to be kept.
  package var value: ResponseValue?
  /// Why the file was not accepted; nil if it was accepted.
  package var error: FileFailure?
}

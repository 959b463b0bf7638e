public import FormStreamMultipart
import FormStreamPlatform

extension Receiver {
  /// The options of resumable uploads: uploads that can go on after their connection broke, even if the receiver was started
  /// again meanwhile.
  ///
  /// Clients use the protocol of draft-ietf-httpbis-resumable-upload, interop version 8, or tus 1.0. The bytes of an upload that is not
  /// complete are in a file in the directory `.formstream-uploads`, which only this user can read. If a complete upload is one
  /// file, ``DirectoryHandler`` takes that file over, so the upload is not copied. A handler is asked only when the
  /// upload is complete.
  ///
  /// What a client was told to be stored survives the end of the receiver's process, but maybe not a power failure.
  public struct ResumableUploads: Hashable, Sendable {
    /// The directory that gets the directory `.formstream-uploads`. It should be the directory of the handler, or at least on
    /// the same file system. Its last component is made if it does not exist.
    public var directory: LocalPath
    /// The least bytes in a resumable upload. Shorter bodies are ordinary uploads, which cost less.
    public var minimumSize: Int64 = 1024 * 1024
    /// The most uploads at once that are not complete.
    ///
    /// If there are this many, an upload that no request has used for a minute is removed to make room: one without a byte, or else one
    /// of a client that doesn't have fewer uploads than the client that asks. If there is none, a client that has more than its share
    /// makes room for one that has less. The client that has most comes first, and of its uploads the one with the fewest bytes. A
    /// client is an address, or a network of 64 bits with IPv6. If there is no room, further uploads are not resumable.
    public var count = 1024
    /// How long an upload that no request uses keeps the room for bytes that have not arrived, and how long it is safe from being
    /// removed for another one.
    package static let idleTime: Int64 = 60
    package var idleSeconds = idleTime
    /// The most bytes of all uploads together that are not complete; nil means no limit. The announced length of an upload
    /// counts from its beginning. If no request uses the upload for a minute, only the bytes that have arrived count.
    public var store: Int64?
    /// The most bytes that the responses to complete uploads take on the disk. A client that lost its response gets it again. If there
    /// are more, the oldest responses of the client that has most are dropped.
    package var responseBytes: Int64 = 128 * 1024 * 1024
    /// How long an upload is kept after its last byte has arrived, and how long the response to a complete upload is kept, as long as
    /// all responses together have at most 128 MiB. The shortest time is a second.
    public var age = Duration.seconds(24 * 60 * 60)

    /// The default options.
    public init(in directory: LocalPath) {
      self.directory = directory
    }

    /// The default options, with the directory that a text names.
    public init(in directory: String) { self.init(in: LocalPath(directory)) }
  }
}

extension Receiver.ResumableUploads {
  /// The greatest number of a structured field (RFC 9651 §3.3.1).
  static let greatestNumber: Int64 = 999_999_999_999_999

  /// These options without values that make no sense.
  var bounded: Receiver.ResumableUploads {
    var bounded = self
    bounded.minimumSize = min(max(minimumSize, 0), Self.greatestNumber)
    bounded.count = min(max(count, 1), 1 << 20)
    bounded.store = store.map { max($0, 0) }
    bounded.age = max(age.bounded, .seconds(1))
    return bounded
  }

  /// The age in complete seconds.
  var ageInSeconds: Int64 { age.components.seconds }
}

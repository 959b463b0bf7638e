public import FormStreamMultipart

/// A file of a batch: an entry of a listing or a record of a manifest.
///
/// It contains what was found when the file was listed. The file is not open.
public struct BatchFile: Hashable, Sendable {
  /// A text field that is sent with the file.
  public struct Field: Hashable, Sendable {
    /// The field's name.
    public var name: String
    /// The field's value.
    public var value: String

    /// Makes a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The path by which the file is opened.
  public var path: LocalPath
  /// The directory that ``path`` must not lead out of: `path` is `root`, a slash and `relative`. Nil if the path is opened
  /// as it was given.
  public var root: LocalPath?
  /// The path below ``root``, or the path as it was given.
  public var relative: LocalPath
  /// The path that `{relative}` stands for: ``relative``. If several paths were named, the name of the directory that was
  /// named comes before it.
  package var keptPath: LocalPath
  /// The path as it is written in a manifest: below the manifest's root, or absolute.
  public var manifestPath: LocalPath
  /// The file's size in bytes.
  public var size: Int64
  /// When the file was last written to, in nanoseconds since 1970. Times that don't fit into 64 bits are clamped.
  public var modified: Int64
  /// The identity of the file. It must not change until the file is sent. Nil if the file can't be sent, or if the entry is
  /// from a manifest, because a manifest has only size and time.
  package var identity: FileIdentity?
  /// The media type, if the manifest has one.
  public var type: MediaType?
  /// The SHA-256 in lowercase hexadecimal digits, if the manifest has one.
  public var sha256: SHA256Digest?
  /// The text fields that the manifest has for the file.
  public var fields: [Field]
  /// Whether the manifest says that the server may have accepted the file in an earlier run. The manifest's own journals
  /// don't mention this, because the earlier run had another manifest, or the file's record was lost.
  public var maybeDuplicate = false
  /// The record that the file's idempotency keys are made from, if an earlier round may have sent the file with those keys;
  /// nil for the file's own record.
  package var keyRecord: RecordPlace?
  /// The slices that the server has accepted in an earlier round.
  package var slices: SliceProgress?
  /// Whether the size and the time were read after the listing, because the file could not be read before. An earlier run may have
  /// sent another version.
  package var isFoundLater = false
  /// Whether ``path`` may name a link if there is no root. Below a root, links that don't lead out of the root are followed
  /// anyway.
  package var followsLinks = false
  /// Whether the path was named on the command line and is a link, which is followed wherever it leads.
  package private(set) var isNamedLink = false
  /// The file's number in the listing or in the shard, from 0.
  public var index: Int
  /// The ``index`` of the file in an earlier run, if the manifest lists the files that were not accepted in that run.
  package var keptIndex: Int?
  /// Where the file's record begins in the manifest. Journals and idempotency keys name the record by this offset.
  public var offset: Int64
  /// Why the file can't be sent; nil if no reason is known.
  public var problem: BatchError?
  /// Whether the path leads to a directory that can't be listed. The files in the directory are not known.
  package var isDirectory = false

  package init(
    path: LocalPath, root: LocalPath? = nil, relative: LocalPath? = nil,
    manifestPath: LocalPath? = nil, size: Int64 = 0, modified: Int64 = 0,
    identity: FileIdentity? = nil, type: MediaType? = nil,
    sha256: SHA256Digest? = nil, fields: [Field] = [], index: Int = 0, offset: Int64 = 0,
    problem: BatchError? = nil
  ) {
    self.path = path
    self.root = root
    self.relative = relative ?? path
    keptPath = relative ?? path
    self.manifestPath = manifestPath ?? path
    self.size = size
    self.modified = modified
    self.identity = identity
    self.type = type
    self.sha256 = sha256
    self.fields = fields
    self.index = index
    self.offset = offset
    self.problem = problem
  }

  /// Notes that the path was named on the command line and is a link, which may lead anywhere.
  mutating func followNamedLink() {
    (root, followsLinks, isNamedLink) = (nil, true, true)
  }
}

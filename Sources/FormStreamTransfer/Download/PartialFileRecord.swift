import FormStreamDigest
import FormStreamPlatform
import Foundation

/// What is written beside a partial file, so that a later download can continue it: `NAME.part.json`. It is there
/// before the first byte of the partial file.
struct PartialFileRecord: Codable, Sendable {
  /// The schema of this format.
  private static let schema = "formstream.download/1"
  /// The longest record that is read.
  static let maximumSize = 64 * 1024

  private let schema: String
  /// The URL for people, secrets masked.
  private let url: String
  /// The digest of the URL: the URL itself may hold secrets.
  private let urlDigest: String
  /// Which file the partial file is: another program may have put a file of its own under that name.
  private let file: PartialFile.Identity
  /// How the last download left the partial file; nil while one uses it, and after one was killed.
  var left: PartialFile.Condition?
  /// What the server said of the version whose bytes the partial file has.
  var version: ResourceVersion
  /// The name that the server gave the file; nil if it gave none.
  let serverName: String?
  /// How many bytes are certainly on the disk, even if the power failed.
  var synchronized: Int64 = 0
  /// The start of the system that the rest was written after: it is in memory or on the disk until the system ends.
  var boot: String?

  private enum CodingKeys: String, CodingKey {
    case schema, url, file, left, version, synchronized, boot
    case urlDigest = "url_sha256"
    case serverName = "name"
  }

  init(
    _ url: HTTPURL, _ file: PartialFile.Identity, boot: String?, version: ResourceVersion,
    serverName: String?
  ) throws {
    schema = Self.schema
    self.url = url.description
    urlDigest = try SHA256.digest(of: url.absoluteString).description
    (self.file, self.boot, self.version, self.serverName) = (file, boot, version, serverName)
  }

  /// Reads a record of this URL; nil if it is something else.
  init?(_ bytes: [UInt8], of url: HTTPURL) {
    guard let record = try? JSONDecoder().decode(PartialFileRecord.self, from: Data(bytes)),
      record.schema == Self.schema, record.synchronized >= 0,
      record.version.length ?? 0 >= 0,
      let digest = try? SHA256.digest(of: url.absoluteString).description,
      record.urlDigest == digest
    else { return nil }
    self = record
  }

  /// Whether a file is the partial file, and has in it what a download has left, as far as that can be known: what another
  /// program has written is not to be joined or replaced.
  func describes(_ file: PartialFile) throws(SystemError) -> Bool {
    guard try isOf(file) else { return false }
    let condition = try file.condition
    if let left { return condition == left }
    // A download that was killed has changed the file since its record. Only the birth shows that the file is that one, and
    // what was certainly on the disk can't be missing.
    return self.file.birth != nil && (condition.size == 0 || condition.size >= synchronized)
  }

  /// Whether a file is the partial file, whatever it has in it.
  func isOf(_ file: PartialFile) throws(SystemError) -> Bool { try file.identity == self.file }

  func isOfSameFile(as other: PartialFileRecord) -> Bool { file == other.file }

  /// Whether a file is a record, of whatever it may be.
  static func isRecord(_ bytes: [UInt8]) -> Bool {
    let record = try? JSONDecoder().decode(PartialFileRecord.self, from: Data(bytes))
    return record?.schema == schema
  }

  /// How many of a partial file's bytes can be relied on, if the system was started at `boot`.
  func reliable(_ size: Int64, after boot: String?) -> Int64 {
    boot != nil && boot == self.boot ? size : min(size, synchronized)
  }

  var bytes: [UInt8] {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
  }
}

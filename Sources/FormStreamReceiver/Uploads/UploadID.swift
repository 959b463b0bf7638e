import FormStreamPlatform

/// The secret name of a resumable upload: 128 random bits, as 32 hexadecimal digits. Who knows it may go on with the upload.
struct UploadID: Hashable, Sendable {
  /// The path that all uploads are below.
  static let prefix = "/.formstream-uploads/"

  private static let digits = 32
  /// The name of the directory with the files of all uploads.
  static let directoryName = FileName(".formstream-uploads")

  let text: String

  /// A new name. Swift's default generator takes its numbers from the system's generator for secrets.
  init() {
    let numbers = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    let shifts = stride(from: 60, through: 0, by: -4)
    let digits = [numbers.0, numbers.1].flatMap { number in
      shifts.map { Hexadecimal.digit(number >> UInt64($0)) }
    }
    text = String(decoding: digits, as: UTF8.self)
  }

  /// A name that a client sent, or that a file has; nil if it can't be the name of an upload.
  init?(_ text: some StringProtocol) {
    guard text.utf8.count == Self.digits, text.utf8.allSatisfy(Self.isDigit) else { return nil }
    self.text = String(text)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  /// The path in the upload's URL.
  var path: String { Self.prefix + text }
  /// The name of the file with the bytes that have arrived.
  var bodyName: FileName { FileName(text) }
  /// The name of the file with everything else.
  var stateName: FileName { FileName("\(text).json") }

  /// The upload that a file belongs to, by the file's name; nil if it is no file of an upload.
  init?(fileName: FileName) {
    let suffix = Array(".json".utf8)
    let isState = Array(fileName.bytes.suffix(suffix.count)) == suffix
    self.init(
      String(decoding: fileName.bytes.dropLast(isState ? suffix.count : 0), as: UTF8.self))
  }
}

extension String {
  /// This target without the name of a resumable upload, for logs: who reads a log must not be able to change uploads.
  package var hidingUploadIDs: String {
    let path = pathOfTarget
    guard path.utf8.starts(with: UploadID.prefix.utf8) else { return self }
    return "\(self[..<path.startIndex])\(UploadID.prefix)***"
  }
}

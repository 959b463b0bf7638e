import FormStreamMultipart
import FormStreamPlatform

/// The secret name of a resumable upload: 128 random bits, as 32 hexadecimal digits. Who knows it may go on with the upload.
struct UploadID: Hashable, Sendable {
  /// The path that all uploads are below.
  static let prefix = "/.formstream-uploads/"

  fileprivate static let digits = 32
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
  /// This text without the names of resumable uploads, for logs: who reads a log must not be able to change uploads. The text may be
  /// a target, a malformed one, a header with a URL in it, or a sentence that quotes one of these.
  package var hidingUploadIDs: String {
    let marker = Array(UploadID.prefix.utf8.dropFirst().dropLast())
    let bytes = Array(utf8)
    guard bytes.contains(UInt8(ascii: ".")) || bytes.contains(UInt8(ascii: "%")) else { return self }
    var result: [UInt8] = []
    // What is outside of the URLs that are hidden.
    var others: [UInt8] = []
    var rest = bytes[...]
    while let start = rest.firstStart(ofMarker: marker) {
      let after = rest[start...].dropFirst(marker.count)
      let end = after.firstIndex { !Self.isInURL($0) } ?? after.endIndex
      let other = result.isEmpty ? Array(rest[..<start]) : Self.hidingIDs(rest[..<start])
      others += other + [0]
      result += other + marker
      if end > after.startIndex { result += "/***".utf8 }
      rest = rest[end...]
    }
    let last = result.isEmpty ? Array(rest) : Self.hidingIDs(rest)
    // The marker may be percent-encoded, even more than once. No client of ours does that, so nothing of such a text is worth showing.
    var decoded = others + last
    for _ in 0..<Self.mostEncodings {
      let next = Array(PercentDecoder.decoded(decoded))
      guard next.count < decoded.count else { break }
      if next[...].firstStart(ofMarker: marker) != nil { return "***" }
      decoded = next
    }
    return String(decoding: result + last, as: UTF8.self)
  }

  /// How many times a marker may be encoded. More would be found by a program that decodes more often, and we know of none.
  private static let mostEncodings = 4

  /// Bytes without runs of digits that are as long as the name of an upload. A character that ends a URL in a sentence may be in a
  /// URL that somebody has made up.
  private static func hidingIDs(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes
    while let first = rest.first {
      let run = rest.prefix { Hexadecimal.value(of: $0) != nil }
      result += run.count < UploadID.digits ? Array(run) : Array("***".utf8)
      rest = rest.dropFirst(run.count)
      if run.isEmpty {
        result.append(first)
        rest = rest.dropFirst()
      }
    }
    return result
  }

  /// Whether a byte can belong to a URL in a text. A quote, a blank or the like ends the URL.
  private static func isInURL(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != 0x7F && !"\"<>,;)]}".utf8.contains(byte)
  }
}

extension RequestHead {
  /// Whether the path has the URL of an upload in it, in any spelling.
  var namesUpload: Bool {
    let path = "/\(decodedPath)"
    return path.hidingUploadIDs != path
  }
}

extension ArraySlice<UInt8> {
  /// Where the marker begins, in letters of either case.
  fileprivate func firstStart(ofMarker marker: [UInt8]) -> Int? {
    guard count >= marker.count else { return nil }
    return (startIndex...endIndex - marker.count).first { start in
      zip(self[start...], marker).allSatisfy { byte, expected in
        byte == expected || byte | 0x20 == expected && UInt8(ascii: "A") <= byte && byte <= UInt8(ascii: "Z")
      }
    }
  }
}

import FormStreamDigest
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamPlatform

/// Text with values of the file in braces, such as `{stem}-{size}`; `{{` is a brace.
package struct FileTemplate: Sendable {
  /// What a name in braces stands for.
  package enum Value: String, CaseIterable, Sendable {
    /// The path, as it was given or found.
    case path
    /// The path below the directory that was named, or the path as it was given.
    case relative
    /// The last component of the path.
    case name
    /// The name without its extension.
    case stem
    /// The extension, without the dot.
    case `extension`
    /// The number of bytes.
    case size
    /// The media type.
    case type
    /// The SHA-256 in hexadecimal digits.
    case sha256
    /// The place in the listing, from 0.
    case index
  }

  enum Piece: Sendable {
    case text([UInt8])
    case value(Value)
  }

  let pieces: [Piece]

  /// Parses a template.
  ///
  /// - Throws: `invalidTemplate`.
  package init(_ bytes: [UInt8]) throws(BatchError) {
    var pieces: [Piece] = []
    var text: [UInt8] = []
    var rest = bytes[...]
    let (opening, closing) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
    while let byte = rest.popFirst() {
      guard byte == opening else {
        text.append(byte)
        continue
      }
      if rest.first == opening {
        rest.removeFirst()
        text.append(opening)
        continue
      }
      let name = String(decoding: rest.prefix { $0 != closing }, as: UTF8.self)
      guard rest.contains(closing), let value = Value(rawValue: name) else {
        throw Self.unknown(rest.contains(closing) ? name : nil)
      }
      rest = rest.dropFirst(name.utf8.count + 1)
      pieces += [.text(text), .value(value)]
      text = []
    }
    self.pieces = pieces + [.text(text)]
  }

  private static func unknown(_ name: String?) -> BatchError {
    let known = Value.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
    let what = name.map { "{\($0)} is none of a file's values" } ?? "A { has no } after it"
    return BatchError(
      .invalidTemplate, on: name ?? "{", "\(what): use \(known), or {{ for a brace.")
  }

  /// Whether there is a value in it.
  package var isConstant: Bool {
    pieces.allSatisfy { if case .text = $0 { true } else { false } }
  }

  /// Whether the digest is needed.
  package var needsDigest: Bool {
    pieces.contains { if case .value(.sha256) = $0 { true } else { false } }
  }

  /// The text for a file.
  ///
  /// - Parameter write: appends a value. By default it is appended as it is.
  func expanded(
    for file: OpenedBatchFile,
    writing write: (Value, [UInt8], inout [UInt8]) -> Void = { $2 += $1 }
  ) -> [UInt8] {
    pieces.reduce(into: []) { result, piece in
      switch piece {
      case .text(let text): result += text
      case .value(let value): write(value, file.bytes(of: value), &result)
      }
    }
  }
}

extension OpenedBatchFile {
  fileprivate func bytes(of value: FileTemplate.Value) -> [UInt8] {
    let name = file.path.lastComponentBytes
    // A dot at the start does not begin an extension.
    let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil }
    return switch value {
    case .path: file.path.bytes
    case .relative: file.relative.bytes
    case .name: name
    case .stem: Array(name[..<(dot ?? name.count)])
    case .extension: dot.map { Array(name[($0 + 1)...]) } ?? []
    case .size: Array(String(pinned.identity.size).utf8)
    case .type: Array(type.type.description.utf8)
    case .sha256: Array((digest?.description ?? "").utf8)
    case .index: Array(String(file.index).utf8)
    }
  }
}

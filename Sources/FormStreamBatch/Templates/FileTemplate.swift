import FormStreamDigest
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamPlatform

/// Text with values of the file in braces, such as `{stem}-{size}`. `{{` stands for a brace.
public struct FileTemplate: Sendable {
  /// The value that a name in braces stands for.
  package enum Value: String, CaseIterable, Sendable {
    /// The absolute path.
    case path
    /// The path below the directory that was named. If several paths were named, the directory's own name comes before it.
    /// For a file that was named directly, it is the last component of the path. An absolute path in a list or manifest
    /// stays as it is, unless it contains `/./`.
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
    /// The place in the request, from 0.
    case place = "i"
    /// The number of the slice, from 0.
    case slice
    /// How many slices the file has.
    case slices
    /// Where the slice begins in the file.
    case offset
    /// How many bytes all slices have: the size of the file.
    case total

    /// The values that each file has.
    package static let ofFile: [Value] = [
      .path, .relative, .name, .stem, .extension, .size, .type, .sha256, .index,
    ]
    /// The values that a slice has, besides those of its file.
    package static let ofSlice: [Value] = [.slice, .slices, .offset, .total]
  }

  enum Piece: Sendable {
    case text([UInt8])
    case value(Value)
  }

  let pieces: [Piece]
  /// The directory that relative paths of files are relative to. It is the root of the system if the template has no
  /// `{path}`.
  private let directory: LocalPath

  /// A template without values.
  package init(literal text: String) {
    (pieces, directory) = ([.text(Array(text.utf8))], "/")
  }

  /// Parses a template. The values are `{path}`, `{relative}`, `{name}`, `{stem}`, `{extension}`, `{size}`, `{type}`,
  /// `{sha256}` and `{index}`.
  ///
  /// - Throws: `invalidTemplate` if another name is in braces.
  public init(_ text: String) throws(BatchError) { try self.init(Array(text.utf8)) }

  /// Parses a template.
  ///
  /// - Parameter known: the values that may stand in the template.
  /// - Throws: `invalidTemplate`; `inputMissing` or `inputUnreadable` if the current directory is needed and its path can't
  ///   be found.
  package init(_ bytes: [UInt8], of known: [Value] = Value.ofFile) throws(BatchError) {
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
      guard rest.contains(closing), let value = Value(rawValue: name), known.contains(value)
      else { throw Self.unknown(rest.contains(closing) ? name : nil, known) }
      rest = rest.dropFirst(name.utf8.count + 1)
      pieces += [.text(text), .value(value)]
      text = []
    }
    self.pieces = pieces + [.text(text)]
    let needsPath = pieces.contains { if case .value(.path) = $0 { true } else { false } }
    do throws(SystemError) { directory = needsPath ? try currentDirectory() : "/" } catch {
      throw .unreadable(at: ".", error)
    }
  }

  private static func unknown(_ name: String?, _ known: [Value]) -> BatchError {
    let remedies = known.map { "{\($0.rawValue)}" }.joined(separator: " ")
    let what =
      name.map { "{\($0)} is none of the values that can be used here" } ?? "A { has no } after it"
    return BatchError(
      .invalidTemplate, on: name ?? "{",
      "\(what): use \(known.isEmpty ? "" : remedies + ", or "){{ for a brace.")
  }

  /// Whether the template has no values.
  package var isConstant: Bool {
    pieces.allSatisfy { if case .text = $0 { true } else { false } }
  }

  /// The values in the template.
  var values: [Value] {
    pieces.compactMap { if case .value(let value) = $0 { value } else { nil } }
  }

  /// Whether the template needs the file's digest.
  package var needsDigest: Bool { values.contains(.sha256) }

  /// The text for a file.
  ///
  /// - Parameters:
  ///   - place: the file's place in the request.
  ///   - slice: the slice of the file that is sent; nil for the complete file.
  ///   - write: appends a value. By default it is appended as it is.
  func expanded(
    for file: OpenedBatchFile, at place: Int = 0, slice: FileSlice? = nil,
    writing write: (Value, [UInt8], inout [UInt8]) -> Void = { $2 += $1 }
  ) -> [UInt8] {
    expanded(writing: write) { file.bytes(of: $0, at: place, slice, in: directory) }
  }

  /// The text for a file that is not open. The values `{type}` and `{sha256}` are then empty.
  func expanded(
    for file: BatchFile, writing write: (Value, [UInt8], inout [UInt8]) -> Void
  ) -> [UInt8] {
    expanded(writing: write) { file.bytes(of: $0, in: directory) }
  }

  private func expanded(
    writing write: (Value, [UInt8], inout [UInt8]) -> Void, _ bytes: (Value) -> [UInt8]
  ) -> [UInt8] {
    pieces.reduce(into: []) { result, piece in
      switch piece {
      case .text(let text): result += text
      case .value(let value): write(value, bytes(value), &result)
      }
    }
  }
}

extension OpenedBatchFile {
  fileprivate func bytes(
    of value: FileTemplate.Value, at place: Int, _ slice: FileSlice?, in directory: LocalPath
  ) -> [UInt8] {
    switch value {
    case .type: Array(type.type.description.utf8)
    case .sha256: Array((digest?.description ?? "").utf8)
    default: file.bytes(of: value, at: place, slice, in: directory)
    }
  }
}

extension BatchFile {
  fileprivate func bytes(
    of value: FileTemplate.Value, at place: Int = 0, _ slice: FileSlice? = nil,
    in directory: LocalPath
  ) -> [UInt8] {
    func digits(_ number: some BinaryInteger) -> [UInt8] { Array(String(number).utf8) }
    let name = path.lastComponentBytes
    // A dot at the start does not begin an extension.
    let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil }
    return switch value {
    case .path: directory.joined(path).withoutEmptyComponents
    case .relative: keptPath.bytes
    case .name: name
    case .stem: Array(name[..<(dot ?? name.count)])
    case .extension: dot.map { Array(name[($0 + 1)...]) } ?? []
    case .size, .total: digits(size)
    case .type, .sha256: []
    case .index: digits(number)
    case .place: digits(place)
    case .slice: digits(slice?.index ?? 0)
    case .slices: digits(slice?.count ?? 1)
    case .offset: digits(slice?.offset ?? 0)
    }
  }
}

extension LocalPath {
  /// The bytes of an absolute path without components that are empty or a dot. Two paths that differ only in such
  /// components always name the same file.
  fileprivate var withoutEmptyComponents: [UInt8] {
    let slash = UInt8(ascii: "/")
    let components = bytes.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
    return components.isEmpty ? [slash] : components.flatMap { [slash] + $0 }
  }
}

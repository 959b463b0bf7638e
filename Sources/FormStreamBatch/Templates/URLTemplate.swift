import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform
package import FormStreamHTTP

/// The URL of each file of a batch that is sent by PUT. Values of the file are percent-encoded, so they can't change other
/// parts of the URL.
package struct URLTemplate: Sendable {
  private let template: FileTemplate
  private let query: [URLEncodedField]
  private let isSecret: Bool
  /// The URL up to the last slash before the first value, for messages.
  package let base: HTTPURL

  /// Whether the template needs the file's digest.
  package var needsDigest: Bool { template.needsDigest }

  /// Parses a template. If it ends in a slash, `{relative}` is added.
  ///
  /// - Parameters:
  ///   - query: the fields that are added to the query of each URL.
  ///   - isSecret: whether only the origin of the URLs is shown.
  /// - Throws: `invalidTemplate`.
  package init(
    _ text: String, query: [URLEncodedField], isSecret: Bool
  ) throws(BatchError) {
    let template = try FileTemplate(Array((text.hasSuffix("/") ? text + "{relative}" : text).utf8))
    guard !template.isConstant else {
      throw BatchError(
        .invalidTemplate, on: "the URL",
        "All files would be sent to one URL: end it with /, or write a value of the file into it, such as {name}."
      )
    }
    guard case .text(let start)? = template.pieces.first,
      let afterScheme = String(decoding: start, as: UTF8.self).firstRange(of: "://")?.upperBound,
      case let beginning = String(decoding: start, as: UTF8.self),
      let slash = beginning[afterScheme...].lastIndex(of: "/"),
      !Self.isAfterFragment(template),
      let base = try? HTTPURL(String(beginning[...slash].prefix { $0 != "?" }))
    else {
      throw BatchError(
        .invalidTemplate, on: "the URL",
        "A value of the file can only be in the path or the query of the URL: write it after https://host/."
      )
    }
    self.template = template
    self.query = query
    self.isSecret = isSecret
    var shown = base
    shown.isSecret = isSecret
    self.base = shown
  }

  /// Whether a value is in the fragment, which is not sent.
  private static func isAfterFragment(_ template: FileTemplate) -> Bool {
    template.pieces.dropLast().contains { piece in
      if case .text(let text) = piece { text.contains(UInt8(ascii: "#")) } else { false }
    }
  }

  /// The URL for a file.
  ///
  /// - Throws: `invalidTemplate` if the path would have the component `.` or `..`, which servers resolve to another
  ///   directory.
  func url(for file: OpenedBatchFile) throws(BatchError) -> HTTPURL {
    try url(template.expanded(for: file, writing: Self.write), of: file.file)
  }

  /// The URL for a file that is not open, if ``needsContents`` is false.
  func url(for file: BatchFile) throws(BatchError) -> HTTPURL {
    try url(template.expanded(for: file, writing: Self.write), of: file)
  }

  private static func write(
    _ value: FileTemplate.Value, _ bytes: [UInt8], to result: inout [UInt8]
  ) {
    let slash = UInt8(ascii: "/")
    let keepsSlashes = value.hasSlashes && !result.contains(UInt8(ascii: "?"))
    // Many servers treat two slashes as one, so the first slash of an absolute path is left out after a slash.
    let bytes = keepsSlashes && result.last == slash ? Array(bytes.drop { $0 == slash }) : bytes
    let segments =
      keepsSlashes
      ? bytes.split(separator: slash, omittingEmptySubsequences: false) : [bytes[...]]
    for (index, segment) in segments.enumerated() {
      if index > 0 { result.append(slash) }
      PercentEncoding.unreserved.append(segment, to: &result)
    }
  }

  private func url(_ bytes: [UInt8], of file: BatchFile) throws(BatchError) -> HTTPURL {
    let slash = UInt8(ascii: "/")
    let path = bytes.prefix { $0 != UInt8(ascii: "?") }
    let hasDots = path.split(separator: slash).dropFirst(2).contains {
      $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
    }
    do throws(TransferError) {
      guard !hasDots else {
        throw TransferError(.invalidURL, on: "..", "its path has the component . or ..")
      }
      var url = try HTTPURL(String(decoding: bytes, as: UTF8.self)).appending(query)
      url.isSecret = isSecret
      return url
    } catch {
      throw BatchError(
        .invalidTemplate, on: file.path.description,
        "The file \(file.path.description.quoted) has no URL: \(error.message)")
    }
  }
}

extension FileTemplate.Value {
  /// Whether the value may have slashes that stay slashes in the path of a URL.
  fileprivate var hasSlashes: Bool { self == .path || self == .relative }
}

// MARK: Distinct URLs

extension URLTemplate {
  /// Whether the template has `{index}`.
  var hasIndex: Bool { template.values.contains(.index) }

  /// Whether a file must be read to know its URL.
  var needsContents: Bool { template.values.contains { $0 == .type || $0 == .sha256 } }

  /// The URL as it is shown; nil if it is a secret.
  func shown(_ url: String) -> String? {
    isSecret ? nil : (try? HTTPURL(url))?.description
  }

  /// The pieces that decide where a file goes. A query that is the same for all files is left out, because it may have a
  /// new signature in each run.
  private var placingPieces: [FileTemplate.Piece] {
    let mark = UInt8(ascii: "?")
    var pieces = template.pieces
    guard case .text(let text)? = pieces.popLast() else { return template.pieces }
    let isInQuery = pieces.contains { piece in
      if case .text(let text) = piece { text.contains(mark) } else { false }
    }
    let kept = isInQuery ? text[...] : text.prefix { $0 != mark }
    return kept.isEmpty ? pieces : pieces + [.text(Array(kept))]
  }

  /// An identifier of this template, made with the id of a manifest. It does not reveal the template.
  fileprivate func name(for manifest: String) throws(BatchError) -> String {
    try .naming("\(placingPieces)", for: manifest)
  }

  /// Whether any two files certainly have different URLs, unless their contents are the same.
  ///
  /// - Parameters:
  ///   - hasOneRoot: whether no two files have the same path below the directory that was named.
  ///   - hasIndices: whether no two files have the same index.
  func isDistinct(hasOneRoot: Bool, hasIndices: Bool) -> Bool {
    let values = template.values
    // A digest always has 64 digits. So if it comes before or after all other values, its place in the URL is certain.
    if values.first == .sha256 || values.last == .sha256 { return true }
    return (values.count == 1 || areSeparate)
      && values.contains { value in
        switch value {
        case .path, .sha256: true
        case .index: hasIndices
        case .relative: hasOneRoot
        default: false
        }
      }
  }

  /// Whether each value can be recognized in the URL: there is a slash between any two values, and at most one value has
  /// slashes itself.
  private var areSeparate: Bool {
    var hasSlash = true
    var paths = 0
    for piece in template.pieces {
      switch piece {
      case .text(let text):
        if text.contains(UInt8(ascii: "?")) { return false }
        hasSlash = hasSlash || text.contains(UInt8(ascii: "/"))
      case .value(let value):
        if value.hasSlashes { paths += 1 }
        if !hasSlash || paths > 1 { return false }
        hasSlash = false
      }
    }
    return true
  }
}

extension Batch {
  /// An identifier of the URLs, made with the id of a manifest. It does not reveal the URLs. Nil if the shown URL
  /// identifies them. The query does not count, because it may have a new signature in each run.
  package func urlName(for manifest: String) throws(BatchError) -> String? {
    if let urls { return try urls.name(for: manifest) }
    guard request.url.isSecret else { return nil }
    return try .naming("\(request.url.absoluteString.prefix { $0 != "?" })", for: manifest)
  }
}

extension String {
  fileprivate static func naming(_ text: String, for manifest: String) throws(BatchError) -> String {
    do throws(DigestError) {
      return try UUIDText.named("\(manifest) \(text)")
    } catch {
      throw BatchError(.writeFailed, on: "the journal", "The URLs can't be named: \(error).")
    }
  }
}

import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform
package import FormStreamHTTP

/// The URL of each file of a batch that is sent by PUT: values are percent-encoded, and stay in the path or the query.
package struct URLTemplate: Sendable {
  private let template: FileTemplate
  private let query: [URLEncodedField]
  private let isSecret: Bool
  /// The URL up to the directory of the first value, for messages.
  package let base: HTTPURL

  /// Whether the digest is needed.
  package var needsDigest: Bool { template.needsDigest }

  /// Parses a template. One that ends in a slash gets `{relative}` at its end.
  ///
  /// - Parameters:
  ///   - query: what is added to the query of each URL.
  ///   - isSecret: whether only the origin is shown.
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
  /// - Throws: `invalidTemplate` if the path would have the component `.` or `..`, which servers take for another
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
    // Many servers take two slashes for one, so the first slash of an absolute path adds none.
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
  /// Whether there may be slashes in it that stay slashes in the path of a URL.
  fileprivate var hasSlashes: Bool { self == .path || self == .relative }
}

// MARK: URLs of their own

extension URLTemplate {
  /// Whether the index is in it.
  var hasIndex: Bool { template.values.contains(.index) }

  /// Whether a file must be read to know its URL.
  var needsContents: Bool { template.values.contains { $0 == .type || $0 == .sha256 } }

  /// The URL as it is shown; nil if it is a secret.
  func shown(_ url: String) -> String? {
    isSecret ? nil : (try? HTTPURL(url))?.description
  }

  /// The pieces that say where a file goes. What is the same in each URL's query is left out: a signature in it may be a new
  /// one in each run.
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

  /// What tells this template from others, for the files of a manifest. It does not say what the template is.
  fileprivate func name(for manifest: String) throws(BatchError) -> String {
    try .naming("\(placingPieces)", for: manifest)
  }

  /// Whether it is certain that no two files have the same URL, except if they have the same contents.
  ///
  /// - Parameters:
  ///   - hasOneRoot: whether no two files have the same path below the directory that was named.
  ///   - hasIndices: whether no two files have the same index.
  func isDistinct(hasOneRoot: Bool, hasIndices: Bool) -> Bool {
    let values = template.values
    // It always has 64 digits, so after or before all other values it has its own place in the URL.
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

  /// Whether each value can be found in the URL again: there is a slash between any two, and at most one has slashes itself.
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

extension BatchSettings {
  /// What tells the URLs from others, for the files of a manifest, and does not say what they are; nil if what is shown of
  /// the URL does. Its query may have a new signature in each run.
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

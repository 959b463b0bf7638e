import FormStreamMultipart
import FormStreamPlatform
package import FormStreamTransfer

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
      !beginning.contains("#"),
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

  /// The URL for a file.
  ///
  /// - Throws: `invalidTemplate` if the path would have the component `.` or `..`, which servers take for another
  ///   directory.
  func url(for file: OpenedBatchFile) throws(BatchError) -> HTTPURL {
    let slash = UInt8(ascii: "/")
    let bytes = template.expanded(for: file) { value, bytes, result in
      let keepsSlashes =
        (value == .path || value == .relative) && !result.contains(UInt8(ascii: "?"))
      let segments =
        keepsSlashes
        ? bytes.split(separator: slash, omittingEmptySubsequences: false) : [bytes[...]]
      for (index, segment) in segments.enumerated() {
        if index > 0 { result.append(slash) }
        PercentEncoding.unreserved.append(segment, to: &result)
      }
    }
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
        .invalidTemplate, on: file.file.path.description,
        "The file \(file.file.path.description.quoted) has no URL: \(error.description)")
    }
  }
}

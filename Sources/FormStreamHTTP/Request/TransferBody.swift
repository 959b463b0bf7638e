public import FormStreamMultipart

/// The body of a request. It is a value: nothing is opened before the request is sent, and each attempt reads it from
/// the start.
public struct TransferBody: Sendable {
  private enum Content: Sendable {
    case form(Form, detector: any MediaTypeDetector, verify: Bool)
    case part(PartBody, MediaType)
    case layout(BodyLayout)
  }

  private let content: Result<Content, TransferError>

  private init(_ content: Content) {
    self.content = .success(content)
  }

  /// A body that can't be made: the request fails with this error before anything is sent.
  package init(failing error: TransferError) {
    content = .failure(error)
  }

  /// A form.
  ///
  /// - Parameters:
  ///   - form: the form. Its files are opened when they are sent.
  ///   - detector: detects the types of files that have no declared type. By default, their extensions decide.
  ///   - verify: whether files are also searched for the boundary.
  public static func form(
    _ form: Form, detector: any MediaTypeDetector = ExtensionTable.builtIn,
    verify: Bool = false
  ) -> TransferBody {
    TransferBody(.form(form, detector: detector, verify: verify))
  }

  /// A body that was laid out before: its files are not measured again.
  public static func layout(_ layout: BodyLayout) -> TransferBody {
    TransferBody(.layout(layout))
  }

  /// The bytes of a file, or of a range in it.
  ///
  /// - Parameters:
  ///   - path: a path as text or bytes, or a file URL of Foundation. With another URL the request fails with `not-a-file`,
  ///     and nothing is sent.
  ///   - type: the `Content-Type` of the request.
  ///   - range: the bytes that are sent; nil for the complete file.
  ///   - growth: whether the file may grow while it is sent; see ``/FormStreamMultipart/FileGrowth``.
  public static func file(
    _ path: some LocalPathConvertible, type: MediaType = .octetStream, range: FileRange? = nil,
    growing growth: FileGrowth = false
  ) -> TransferBody {
    TransferBody(.part(.file(path, range: range, growing: growth), type))
  }

  /// Bytes in memory.
  public static func bytes<Bytes: Collection & Sendable>(
    _ bytes: Bytes, type: MediaType = .octetStream
  ) -> TransferBody where Bytes.Element == UInt8 {
    TransferBody(.part(.bytes(bytes), type))
  }

  /// Names and values as `application/x-www-form-urlencoded`: what browsers send for a form without files.
  public static func urlEncoded(_ fields: [URLEncodedField]) -> TransferBody {
    .bytes(
      Array(URLEncodedField.text(of: fields).utf8), type: "application/x-www-form-urlencoded")
  }

  /// The body of a part without a form around it: an asynchronous sequence, a descriptor, a pipe.
  public static func part(_ body: PartBody, type: MediaType = .octetStream) -> TransferBody {
    TransferBody(.part(body, type))
  }

  /// The same body, but its form has another boundary.
  func with(_ boundary: String?) throws(TransferError) -> TransferBody {
    guard let boundary, case .form(var form, let detector, let verify) = try content.get() else { return self }
    do throws(MultipartError) {
      form.boundary = try Boundary(boundary)
    } catch {
      throw TransferError(error)
    }
    return .form(form, detector: detector, verify: verify)
  }

  /// Measures the body. Its files must not change from here on.
  func laidOut() throws(TransferError) -> BodyLayout {
    let content = try content.get()
    do throws(MultipartError) {
      switch content {
      case .form(let form, let detector, let verify):
        return try form.layout(detector: detector, verify: verify)
      case .part(let body, let type): return try body.layout(as: type)
      case .layout(let layout): return layout
      }
    } catch {
      throw TransferError(error)
    }
  }

  /// Whether the body can be measured without waiting for anything, so that measuring needs no thread of its own.
  var isAtHand: Bool {
    switch content {
    case .success(.form(let form, _, let verify)): !verify && form.isAtHand
    case .success(.part(let body, _)): body.isAtHand
    case .success(.layout(let layout)): !layout.hasStreams
    case .failure: true
    }
  }
}

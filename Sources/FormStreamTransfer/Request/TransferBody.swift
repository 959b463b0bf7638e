public import Foundation
public import FormStream

/// The body of a request. It is a value: nothing is opened before the request is sent, and each attempt reads it from
/// the start.
public struct TransferBody: Sendable {
  private enum Content: Sendable {
    case form(Form, guesser: any MediaTypeGuessing, verify: Bool)
    case part(PartBody, MediaType)
    case layout(BodyLayout)
  }

  private let content: Result<Content, TransferError>

  private init(_ content: Content) {
    self.content = .success(content)
  }

  private init(failing error: TransferError) {
    content = .failure(error)
  }

  /// A form.
  ///
  /// - Parameters:
  ///   - guesser: detects the types of files that have no declared type. By default, their extensions decide.
  ///   - verify: whether files are searched for the boundary, too.
  public static func form(
    _ form: Form, guessing guesser: any MediaTypeGuessing = ExtensionTable.builtIn,
    verify: Bool = false
  ) -> TransferBody {
    TransferBody(.form(form, guesser: guesser, verify: verify))
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
  ///   - growth: whether the file may grow meanwhile; see ``FileGrowth``.
  public static func file(
    _ path: some LocalPathConvertible, type: MediaType = .octetStream, range: FileRange? = nil,
    mayGrow growth: FileGrowth = false
  ) -> TransferBody {
    TransferBody(.part(.file(path, range: range, mayGrow: growth), type))
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

  /// A value as JSON. If it can't be encoded, the request fails before anything is sent.
  public static func json(
    _ value: some Encodable, encoder: JSONEncoder = JSONEncoder()
  ) -> TransferBody {
    do {
      return .bytes(try encoder.encode(value), type: "application/json")
    } catch {
      return TransferBody(
        failing: TransferError(
          .invalidJSON, on: "\(type(of: value))",
          "A value of type \(type(of: value)) can't be encoded as JSON: \(error).",
          underlying: error)
      )
    }
  }

  /// The bytes of an `InputStream`.
  ///
  /// - Parameters:
  ///   - length: the number of bytes in the stream; nil if it is unknown. A stream with fewer or more bytes fails the
  ///     request; no byte over the announced length is sent.
  ///   - replay: whether `make` returns the same bytes each time.
  ///   - make: creates a stream; called for each attempt.
  public static func stream(
    length: Int64? = nil, type: MediaType = .octetStream, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> InputStream?
  ) -> TransferBody {
    .part(.inputStream(length: length, replay: replay, make), type: type)
  }

  /// Bytes that a function writes while they are sent: the alternative to a source that is asked for them.
  ///
  /// ```swift
  /// request.body = .writing(type: "text/csv") { writer in
  ///   for try await row in rows { try await writer.write("\(row.id),\(row.price)\n") }
  /// }
  /// ```
  ///
  /// It runs in a task of its own, and waits in `write` while the server or the network is slower. If the transfer ends,
  /// the task is cancelled. If it throws, the request fails, and ``TransferError/underlying`` is its error. When it
  /// returns, the body is complete: other tasks that it started can't write any more.
  ///
  /// - Parameters:
  ///   - length: the number of bytes; nil if it is unknown. If fewer or more are written, the request fails; no byte over
  ///     the announced length is sent.
  ///   - replay: whether the body can be sent again, in a retry or to the target of a redirect. Choose `.repeatable` if
  ///     `write` writes the same bytes each time it is called. It can't if it goes through a sequence that can be
  ///     iterated once.
  ///   - write: writes the bytes; called for each attempt.
  public static func writing(
    length: Int64? = nil, type: MediaType = .octetStream, replay: Replay = .once,
    _ write: @escaping @Sendable (BodyWriter) async throws -> Void
  ) -> TransferBody {
    .part(.writing(length: length, replay: replay, write), type: type)
  }

  /// The body of a part without a form around it: an asynchronous sequence, a descriptor, a pipe.
  public static func part(_ body: PartBody, type: MediaType = .octetStream) -> TransferBody {
    TransferBody(.part(body, type))
  }

  /// Measures the body. Its files must not change from here on.
  func laidOut() throws(TransferError) -> BodyLayout {
    let content = try content.get()
    do throws(MultipartError) {
      switch content {
      case .form(let form, let guesser, let verify):
        return try form.layout(guessing: guesser, verify: verify)
      case .part(let body, let type): return try body.layout(as: type)
      case .layout(let layout): return layout
      }
    } catch {
      throw TransferError(error)
    }
  }

  /// Whether measuring it waits for nothing, so that it needs no thread of its own.
  var isAtHand: Bool {
    switch content {
    case .success(.form(let form, _, let verify)): !verify && form.isAtHand
    case .success(.part(let body, _)): body.isAtHand
    case .success(.layout(let layout)): !layout.hasStreams
    case .failure: true
    }
  }
}

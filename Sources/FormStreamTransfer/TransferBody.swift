public import Foundation
public import FormStream

/// What a request carries. A body is inert: nothing is opened until the request is sent, and for each attempt
/// a fresh stream is made from it.
public struct TransferBody: Sendable {
  enum Content: Sendable {
    case layout(@Sendable () throws(MultipartError) -> BodyLayout)
    case failure(TransferError)
  }

  let content: Content

  private init(_ layout: @escaping @Sendable () throws(MultipartError) -> BodyLayout) {
    content = .layout(layout)
  }

  private init(failing error: TransferError) {
    content = .failure(error)
  }

  /// A form.
  ///
  /// - Parameters:
  ///   - guesser: asked for the types of files that have none given.
  ///   - verify: whether files are searched for the boundary, too.
  public static func form(
    _ form: Form, guessing guesser: any MediaTypeGuessing & Sendable = NoGuess(),
    verify: Bool = false
  ) -> TransferBody {
    TransferBody { () throws(MultipartError) in
      try form.layout(guessing: guesser, verify: verify)
    }
  }

  /// A body that is laid out already: no file is looked at again.
  public static func layout(_ layout: BodyLayout) -> TransferBody {
    TransferBody { () throws(MultipartError) in layout }
  }

  /// A file, as it is.
  public static func file(
    _ path: LocalPath, type: MediaType = .octetStream, range: FileRange? = nil
  ) -> TransferBody {
    TransferBody { () throws(MultipartError) in
      try PartBody.file(path, range: range).layout(as: type)
    }
  }

  /// Bytes in memory.
  public static func bytes<Bytes: Collection & Sendable>(
    _ bytes: Bytes, type: MediaType = .octetStream
  ) -> TransferBody where Bytes.Element == UInt8 {
    TransferBody { () throws(MultipartError) in try PartBody.bytes(bytes).layout(as: type) }
  }

  /// Names and values as `application/x-www-form-urlencoded`, which is what a form without files is
  /// posted as by browsers.
  public static func urlEncoded(_ fields: [URLEncodedField]) -> TransferBody {
    .bytes(
      Array(URLEncodedField.text(of: fields).utf8), type: "application/x-www-form-urlencoded")
  }

  /// A value as JSON. One that can't be encoded fails the request before anything is sent.
  public static func json(
    _ value: some Encodable, encoder: JSONEncoder = JSONEncoder()
  ) -> TransferBody {
    do {
      return .bytes(try encoder.encode(value), type: "application/json")
    } catch {
      return TransferBody(
        failing: TransferError(
          .invalidJSON, on: "\(type(of: value))",
          "A value of type \(type(of: value)) can't be written as JSON: \(error).",
          underlying: error)
      )
    }
  }

  /// What any `InputStream` gives, made by `make` for each attempt.
  ///
  /// - Parameters:
  ///   - length: the number of bytes that it will give, where that is known. One that gives fewer or more
  ///     fails the request: no byte goes over what was announced.
  ///   - replay: whether `make` gives the same bytes each time.
  public static func stream(
    length: Int64? = nil, type: MediaType = .octetStream, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> InputStream?
  ) -> TransferBody {
    .part(.inputStream(length: length, replay: replay, make), type: type)
  }

  /// What a part of a form can be made of, by itself: an asynchronous sequence, a descriptor, a pipe.
  public static func part(_ body: PartBody, type: MediaType = .octetStream) -> TransferBody {
    TransferBody { () throws(MultipartError) in try body.layout(as: type) }
  }

  /// Measures the body. Files are looked at here, and must stay as they are from here on.
  func laidOut() throws(TransferError) -> BodyLayout {
    switch content {
    case .failure(let error): throw error
    case .layout(let make):
      do throws(MultipartError) { return try make() } catch { throw TransferError(error) }
    }
  }
}

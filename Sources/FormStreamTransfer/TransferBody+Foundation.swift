public import FormStream
public import Foundation

extension TransferBody {
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
          "A value of type \(type(of: value)) can't be encoded as JSON: \(clause(error)).",
          underlying: error)
      )
    }
  }

  /// The bytes of an `InputStream`.
  ///
  /// - Parameters:
  ///   - length: the number of bytes in the stream; nil if it is unknown. If the stream has fewer or more bytes, the request
  ///     fails; no byte over the announced length is sent.
  ///   - type: the `Content-Type` of the request.
  ///   - replay: whether `make` returns the same bytes each time.
  ///   - make: creates a stream; called for each attempt.
  public static func stream(
    length: Int64? = nil, type: MediaType = .octetStream, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> InputStream?
  ) -> TransferBody {
    .part(.inputStream(length: length, replay: replay, make), type: type)
  }

  /// Bytes that a function writes while they are sent. Use this if your code produces the bytes by itself, not on request.
  ///
  /// ```swift
  /// request.body = .writing(type: "text/csv") { writer in
  ///   for try await row in rows { try await writer.write("\(row.id),\(row.price)\n") }
  /// }
  /// ```
  ///
  /// The function runs in a task of its own, and waits in `write` while the server or the network is slower. If the transfer
  /// ends, the task is cancelled. If the function throws, the request fails, and ``/FormStreamHTTP/TransferError/underlying`` is the function's
  /// error. When the function returns, the body is complete: other tasks that it started can't write any more.
  ///
  /// - Parameters:
  ///   - length: the number of bytes; nil if it is unknown. If fewer or more are written, the request fails; no byte over
  ///     the announced length is sent.
  ///   - type: the `Content-Type` of the request.
  ///   - replay: whether the body can be sent again, in a retry or to the target of a redirect. Choose `.repeatable` if the
  ///     function writes the same bytes each time it is called. A function can't write the same bytes again from a sequence
  ///     that can be iterated only once.
  ///   - write: writes the bytes; called for each attempt.
  public static func writing(
    length: Int64? = nil, type: MediaType = .octetStream, replay: Replay = .once,
    _ write: @escaping @Sendable (BodyWriter) async throws -> Void
  ) -> TransferBody {
    .part(.writing(length: length, replay: replay, write), type: type)
  }
}

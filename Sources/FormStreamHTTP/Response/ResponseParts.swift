public import FormStreamMultipart
import FormStreamPlatform

extension OpenResponse {
  /// The parts of a multipart response, as they arrive: of `multipart/form-data`, `mixed`, `byteranges` or any other multipart
  /// type. See ``parts(options:)``.
  ///
  /// ```swift
  /// for try await part in try await session.open(request).accepted().parts {
  ///   print(part.head.contentType ?? "", try await part.text())
  /// }
  /// ```
  public var parts: ResponseParts { parts(options: FormParser.Options()) }

  /// The parts of a multipart response, as they arrive. They can be read once, in place of the ``body``.
  ///
  /// - Parameter options: how strictly the response is read, and its limits. By default, there is no limit for the number of
  ///   bytes in a part: ``ResponsePart/collect(upTo:)`` has one of its own.
  public func parts(options: FormParser.Options) -> ResponseParts {
    ResponseParts(reading: PartsReading(self, options))
  }
}

/// The parts of a multipart response; see ``OpenResponse/parts``.
///
/// Memory does not grow with a part: the server waits while a part is not read. What was not read of a part is skipped when the
/// next part is asked for. The sequence ends after the last byte of the response, if the response was complete and well formed
/// to its end. Otherwise, reading throws a ``TransferError``: `malformedResponse` if the type has no boundary, if the last
/// delimiter is missing, or if anything else is wrong with the parts; `responseTooLarge` if a limit is exceeded; and the errors
/// of reading the ``ResponseBody``. The request is then cancelled.
public struct ResponseParts: AsyncSequence, Sendable {
  let reading: PartsReading

  /// Continues where reading has stopped: the parts can be read only once.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reading: reading) }

  /// Waits for the parts.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let reading: PartsReading

    /// The next part; nil after the last part. The call stays on the caller's actor, except to parse long chunks and to
    /// decompress.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> ResponsePart? {
      try await reading.nextPart(isolation: actor)
    }
  }
}

/// A part of a multipart response; see ``OpenResponse/parts``.
public struct ResponsePart: Sendable {
  /// The headers, such as the `Content-Range` of a part of `multipart/byteranges`. A file name in them is what the server wrote:
  /// it may lead to another directory.
  public let head: PartHead
  /// The contents. They can be read once, and only until the next part is asked for.
  public let body: ResponsePartBody

  /// The complete contents.
  ///
  /// - Throws: `responseTooLarge` if there are more than `limit` bytes; the next part can still be read. `parser-used` if the
  ///   part was read before, even in part: what was read is gone. Also the errors that reading the parts throws.
  public func collect(upTo limit: Int = ResponseTarget.defaultLimit) async throws -> [UInt8] {
    try body.reading.begin(part: body.number)
    var bytes: [UInt8] = []
    for try await chunk in body {
      guard chunk.count <= limit - bytes.count else {
        throw TransferError.partTooLong(body.reading.response.url, limit: limit)
      }
      bytes.append(contentsOf: chunk)
    }
    return bytes
  }

  /// The complete contents as text, with malformed UTF-8 replaced.
  ///
  /// - Throws: as ``collect(upTo:)``.
  public func text(upTo limit: Int = ResponseTarget.defaultLimit) async throws -> String {
    String(decoding: try await collect(upTo: limit), as: UTF8.self)
  }

  /// Writes the contents to a file, which has a temporary name until it is complete, and replaces a file of its name.
  ///
  /// - Parameter path: a path as text or bytes, or a file URL of Foundation.
  /// - Returns: the size of the file.
  /// - Throws: `responseNotStored` if the file can't be written, `not-a-file` if the path is another URL. `parser-used` if the
  ///   part was read before, as ``collect(upTo:)``. Also the errors that reading the parts throws: nothing is stored then.
  @discardableResult
  public func store(at path: some LocalPathConvertible) async throws -> Int64 {
    let file = StoredPart(.file(path), of: body.reading.response)
    try body.reading.begin(part: body.number)
    do {
      try await file.open()
    } catch {
      body.reading.giveBack(part: body.number)
      throw error
    }
    var size: Int64 = 0
    do {
      for try await chunk in body {
        try await file.write(chunk)
        size += Int64(chunk.count)
      }
    } catch {
      try? await file.finish(isComplete: false)
      throw error
    }
    try await file.finish(isComplete: true)
    return size
  }
}

/// The contents of a part, in chunks of any size, as they arrive; see ``ResponsePart``.
public struct ResponsePartBody: AsyncSequence, Sendable {
  let reading: PartsReading
  /// The number of the part in the response.
  let number: Int

  /// Continues where reading has stopped: the contents can be read only once.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(reading: reading, number: number)
  }

  /// Waits for the chunks.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let reading: PartsReading
    let number: Int

    /// The next chunk, with at least one byte; nil after the last chunk. The call stays on the caller's actor, except to parse
    /// long chunks and to decompress.
    ///
    /// - Throws: as ``ResponseParts``. It is an error to read a part after the next part was asked for: what was skipped is
    ///   gone.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> [UInt8]? {
      try await reading.nextBytes(ofPart: number, isolation: actor)
    }
  }
}

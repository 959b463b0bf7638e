import FormStreamPlatform
import FormStreamDigest

/// The body that one exchange sends: read from its source, hashed, and counted.
///
/// Reading never returns more bytes than the announced length. An upload that goes on where it broke sends only a piece of its
/// body; all offsets are offsets in the complete body.
struct SentBody: ~Copyable {
  /// The offset at which the piece ends; nil if it can't be known.
  let total: Int64?
  /// Whether the body ends with the piece.
  private let isLast: Bool
  /// The offset of the first byte that is sent.
  let start: Int64
  /// The offset up to which bytes were read from the source.
  private(set) var read: Int64
  /// The offset up to which bytes were handed over to the system.
  private(set) var handedOver: Int64
  /// The latest chunk, if the body is sent in chunks.
  private var chunk = Chunk()
  /// Whether the last byte was read.
  private(set) var hasReadEnd = false
  /// Whether the source has no bytes yet, and will report when it has some.
  private(set) var isWaitingForSource = false
  private var source: (any UploadSource)?
  /// The digest of the bytes up to `read`, and perhaps of more; nil if they are not hashed.
  private(set) var digest: BodyDigest?
  /// The digest that the head announces; nil if it announces none.
  private var announcedDigest: SHA256Digest?

  init(total: Int64?, from start: Int64 = 0, isLast: Bool = true) {
    self.total = total
    self.isLast = isLast
    self.start = start
    (read, handedOver) = (start, start)
  }

  /// Hashes the bytes that are read from now on. If the body's digest differs from the announced digest, reading fails before
  /// it returns the end of the body.
  ///
  /// - Parameter digest: the digest of the bytes before; nil if there are none.
  mutating func computeDigest(
    after digest: BodyDigest? = nil, announced: SHA256Digest? = nil
  ) throws(DigestError) {
    if let digest { self.digest = digest } else { self.digest = try BodyDigest() }
    announcedDigest = announced
  }

  mutating func start(_ source: any UploadSource) {
    self.source = source
  }

  /// Closes the source. Nothing is read afterwards.
  mutating func close() {
    source?.close()
    source = nil
  }

  /// Reads the next bytes into `buffer`, as many as are available without waiting.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
    var room = buffer
    if let total {
      room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: total - read)))
    }
    guard !room.isEmpty, let source else {
      hasReadEnd = true
      return .end
    }
    let result = source.read(into: room)
    switch result {
    case .bytes(let count):
      if let failure = hash(UnsafeRawBufferPointer(rebasing: room[..<count])) {
        return .failed(failure)
      }
      if total == nil { chunk = Chunk(of: count, after: chunk) }
      read += Int64(count)
    case .later:
      isWaitingForSource = true
    case .end:
      if total == nil, let failure = failureOfDigest() { return .failed(failure) }
      hasReadEnd = true
      guard let total, read < total else { break }
      return .failed(.bodyTooShort(read, announced: total))
    case .failed:
      break
    }
    return result
  }

  /// Hashes the next bytes. Returns the error if the bytes can't be handed over; nil otherwise.
  private mutating func hash(_ bytes: UnsafeRawBufferPointer) -> TransferError? {
    do {
      try digest?.add(bytes, at: read)
    } catch {
      return .digestFailed(error)
    }
    return read + Int64(bytes.count) == total ? failureOfDigest() : nil
  }

  /// Compares the body with the announced digest, before the body's end is handed over. The body was read once for the digest
  /// and once more to send it, and may have changed in between.
  private mutating func failureOfDigest() -> TransferError? {
    guard let announcedDigest, isLast else { return nil }
    do {
      return try digest?.finish() == announcedDigest ? nil : .digestChanged
    } catch {
      return .digestFailed(error)
    }
  }

  /// Notes that the source has bytes again; returns false if nothing waits for them.
  mutating func sourceHasMore() -> Bool {
    defer { isWaitingForSource = false }
    return isWaitingForSource
  }

  /// Reads from a source with an announced length of 0. libcurl doesn't read such a source, so a change of the source is
  /// noticed only here. Returns the source's error; nil if the source is still empty.
  func failureOfEmptySource() -> TransferError? {
    var byte: UInt8 = 0
    guard case .failed(let error) = withUnsafeMutableBytes(of: &byte, { source?.read(into: $0) })
    else { return nil }
    return error
  }

  /// Updates the number of bytes that were handed over.
  ///
  /// - Parameters:
  ///   - uploaded: libcurl's own count, which includes the framing of chunks.
  ///   - isHTTP2: whether the request is sent over HTTP/2, which has no chunks.
  mutating func count(uploaded: Int64, isHTTP2: Bool) {
    let isChunked = total == nil && !isHTTP2
    let sent = isChunked ? read - chunk.unsent(after: uploaded) : min(start + uploaded, read)
    handedOver = max(handedOver, sent)
  }

  /// Updates the number of bytes that were handed over.
  ///
  /// - Parameter sent: how many bytes of the piece have left.
  mutating func note(sent: Int64) { handedOver = max(handedOver, start + sent) }

  /// Counts bytes that libcurl wrote before the connection broke, but didn't count.
  ///
  /// - Parameter written: how many bytes were written to the socket, the framing of TLS or HTTP/2 included.
  mutating func noteUncounted(written: Int64) {
    // The framing of TLS and of HTTP/2 adds much less than a hundredth to the bytes. Both also send short messages of their
    // own.
    let counted = handedOver - start
    guard written - counted > 1024 + counted / 128 else { return }
    // libcurl would have counted a complete body, so this body is not complete.
    handedOver = max(handedOver, min(read, start + written, (total ?? .max) - 1))
  }

  /// The bytes of one read, which libcurl sends as one chunk. libcurl asks for more bytes only after it has sent the chunk.
  ///
  /// RFC 9112 §7.1: chunk = chunk-size CRLF chunk-data CRLF; chunk-size = 1*HEXDIG
  private struct Chunk {
    /// The offsets, among all bytes that are sent, of the end of the chunk's data and of the end of the chunk.
    var dataEnd: Int64 = 0
    var end: Int64 = 0
    var size: Int64 = 0

    init() {}

    init(of size: Int, after last: Chunk) {
      let digits = (Int.bitWidth - size.leadingZeroBitCount + 3) / 4
      self.size = Int64(size)
      dataEnd = last.end + Int64(digits + 2 + size)
      end = dataEnd + 2
    }

    /// How many bytes of data are left after `sent` bytes were sent.
    func unsent(after sent: Int64) -> Int64 {
      min(max(dataEnd - sent, 0), size)
    }
  }

  /// How many bytes are left to read, at most.
  var rest: Int64 { total.map { $0 - read } ?? .max }

  /// Whether there is nothing to send.
  var isEmpty: Bool { total == start }

  /// Whether the complete body was handed over.
  var isHandedOver: Bool { total.map { handedOver == $0 } ?? hasReadEnd }

  /// How much of a request was sent. Only to be used after sending has begun: before, a request without a body would count as
  /// sent.
  var stage: AttemptStage {
    if isHandedOver { return .sent }
    // A head alone counts as not sent: it announces a body, so a server doesn't act on the head alone.
    return handedOver == start ? .notSent : .partlySent
  }

  /// Ends the hashing, and returns the digest; nil if there is none, or the body goes on.
  mutating func finishDigest() -> SHA256Digest? {
    guard isLast else { return nil }
    return try? digest?.finish()
  }
}

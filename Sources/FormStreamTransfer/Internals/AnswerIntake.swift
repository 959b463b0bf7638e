import Foundation
import FormStream

/// Takes an answer as it comes: heads by lines, bodies by pieces.
///
/// It belongs to the engine's thread.
final class AnswerIntake {
  /// The heads of one answer, informational ones and trailers included.
  private static let maximumHeadSize = 256 * 1024
  /// RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses"; not any number of them.
  private static let maximumInformational = 100
  /// How much of a body nobody wants is read to keep its connection; over it, the connection goes.
  private static let maximumDropped: Int64 = 16 * 1024 * 1024

  /// The final answer's status; nil while there is none.
  private(set) var status: Int?
  private(set) var version = ""
  private(set) var headers = HTTPHeaders()
  private(set) var body = Data()
  private(set) var isTruncated = false
  /// How many bytes of the final answer's body have come.
  private(set) var received: Int64 = 0
  /// Whether the server gave leave to send the body.
  private(set) var hasContinued = false
  /// Whether the answer is kept from its target.
  private(set) var isHeld = false
  /// The last status, informational or not.
  private(set) var lastStatus: Int?
  /// Whether the rest of the body was not read because it is too much.
  private(set) var hasEnough = false
  /// Why the answer can't be taken.
  private(set) var failure: TransferError?

  private let url: HTTPURL
  private let target: ResponseTarget
  private let isFinal: (_ status: Int, _ headers: HTTPHeaders) -> Bool
  private let traceHead: ((String) -> Void)?
  private var sink: Sink?
  private var isInHead = false
  private var headSize = 0
  private var informational = 0
  private var headText = ""

  private enum Sink {
    case memory(limit: Int)
    case file(AtomicFile, FileName)
    case stream((UnsafeRawBufferPointer) throws -> Void)
  }

  /// - Parameters:
  ///   - isFinal: whether an answer is the one that the caller gets; others are kept only in part.
  ///   - traceHead: told each head, secrets masked.
  init(
    url: HTTPURL, target: ResponseTarget,
    isFinal: @escaping (_ status: Int, _ headers: HTTPHeaders) -> Bool,
    traceHead: ((String) -> Void)?
  ) {
    self.url = url
    self.target = target
    self.isFinal = isFinal
    self.traceHead = traceHead
  }

  /// What came, where the head of a final answer did.
  var response: TransferResponse? {
    guard let status, !isInHead else { return nil }
    return TransferResponse(
      status: status, version: version, url: url, headers: headers, body: body,
      isTruncated: isTruncated)
  }

  /// Notes that the body broke off.
  func cut() {
    isTruncated = true
  }

  /// Gives a file its name, where the answer went into one and is whole.
  func finish() throws(TransferError) {
    guard case .file(let file, let name) = sink else { return }
    guard !isTruncated else { return file.discard() }
    do {
      try file.replace(name)
    } catch {
      isTruncated = true
      throw notStored(error)
    }
  }

  // MARK: Heads

  /// Takes a line; false where there were too many.
  func take(headLine bytes: UnsafeRawBufferPointer) -> Bool {
    headSize += bytes.count
    guard headSize <= Self.maximumHeadSize else {
      return fail(
        .responseTooLarge,
        "The heads of the answer from \(url) have more than \(Self.maximumHeadSize) bytes: something is "
          + "wrong with the server.")
    }
    let line = String(decoding: bytes, as: UTF8.self).trimmingLineBreak
    if line.hasPrefix("HTTP/"), !isInHead {
      begin(with: line)
    } else if isInHead {
      if line.isEmpty { return end() }
      if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
        let value = String(line[line.utf8.index(after: colon)...]).trimmingBlanks()
        let name = String(line[..<colon])
        headers.note(name: name, value: String(value))
        let shown = HeaderText.isSecret(name) ? "***" : String(value)
        headText +=
          "\n\(name): \(name.isSameHeaderName(as: "Location") ? shown.hidingCredentials : shown)"
      }
    }
    // What is left are trailers: they say nothing that is asked for here.
    return true
  }

  private func begin(with line: String) {
    // RFC 9112 §4: status-line = HTTP-version SP status-code SP [ reason-phrase ]
    let words = line.split(separator: " ", maxSplits: 2)
    version = String(words[0].dropFirst("HTTP/".count))
    lastStatus = words.count > 1 ? Int(words[1]) : nil
    status = nil
    headers = HTTPHeaders()
    body = Data()
    (received, isTruncated) = (0, false)
    headText = line
    isInHead = true
  }

  private func end() -> Bool {
    isInHead = false
    traceHead?(headText)
    guard let lastStatus, (100...599).contains(lastStatus) else {
      return fail(
        .malformedResponse,
        "The answer from \(url) has no status that HTTP knows: \(headText.quoted).")
    }
    guard lastStatus != 101 else {
      return fail(
        .malformedResponse,
        "The server at \(url) goes on in another protocol, which nobody has asked for.")
    }
    if lastStatus < 200 {
      if lastStatus == 100 { hasContinued = true }
      informational += 1
      guard informational <= Self.maximumInformational else {
        return fail(
          .malformedResponse,
          "The server at \(url) has sent \(informational) interim answers and no final one.")
      }
      return true
    }
    // RFC 9112 §6.3: of such an answer, nobody can tell where it ends.
    guard hasOneLength else {
      return fail(
        .malformedResponse,
        "The answer from \(url) has more than one Content-Length, or one that is none.")
    }
    status = lastStatus
    return openSink(for: lastStatus)
  }

  /// RFC 9110 §8.6: Content-Length = 1*DIGIT. RFC 9112 §6.3: where the framing is in doubt, so is the answer.
  private var hasOneLength: Bool {
    let lengths = headers.fields.filter { $0.name.isSameHeaderName(as: "Content-Length") }.map(
      \.value)
    guard let first = lengths.first else { return true }
    return lengths.allSatisfy { $0 == first } && Int64(first) != nil
      && first.isASCIIDigits
  }

  private func openSink(for status: Int) -> Bool {
    isHeld = !isFinal(status, headers)
    if isHeld {
      sink = .memory(limit: target.heldLimit)
      return true
    }
    switch target.kind {
    case .memory(let limit): sink = .memory(limit: limit)
    case .stream(let take): sink = .stream(take)
    case .file(let path):
      do {
        sink = .file(try AtomicFile(for: path), path.name)
      } catch {
        failure = notStored(error)
        sink = .memory(limit: 4096)
      }
    }
    return true
  }

  // MARK: Bodies

  /// Takes a piece of the body; false where there is no use in more.
  func take(body bytes: UnsafeRawBufferPointer) -> Bool {
    received += Int64(bytes.count)
    do {
      switch sink {
      case .memory(let limit): return keep(bytes, limit: limit)
      case .file(let file, _): try file.write(bytes)
      case .stream(let take): try take(bytes)
      case nil: break
      }
      return true
    } catch {
      // The server's word stands; the connection ends, since nothing can be done with the rest.
      failure = notStored(error)
      isTruncated = true
      return false
    }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
    let room = max(limit - body.count, 0)
    body.append(contentsOf: bytes.prefix(room))
    if bytes.count > room { isTruncated = true }
    hasEnough = received - Int64(body.count) > Self.maximumDropped
    return !hasEnough
  }

  private func notStored(_ error: any Error) -> TransferError {
    .notStored(target, from: url, error)
  }

  private func fail(_ code: TransferError.Code, _ description: String) -> Bool {
    failure = TransferError(code, on: url.description, description)
    return false
  }
}

extension TransferError {
  static func notStored(
    _ target: ResponseTarget, from url: HTTPURL, _ error: any Error
  ) -> TransferError {
    let place =
      if case .file(let path) = target.kind { path.description } else { "the answer's target" }
    return TransferError(
      .responseNotStored, on: place,
      "The answer from \(url) could not be written to \(place.quoted): \(error).", underlying: error
    )
  }
}

extension ResponseTarget {
  /// How much is kept of an answer that is not expected to be the last one, in case that it is.
  var heldLimit: Int {
    if case .memory(let limit) = kind { limit } else { 1024 * 1024 }
  }

  /// Takes an answer that was held. What is not whole becomes no file.
  func deliver(_ body: UnsafeRawBufferPointer, isWhole: Bool) throws {
    switch kind {
    case .memory: break
    case .stream(let take): if !body.isEmpty { try take(body) }
    case .file(let path):
      guard isWhole else { return }
      let file = try AtomicFile(for: path)
      try file.write(body)
      try file.replace(path.name)
    }
  }
}

extension String {
  fileprivate var trimmingLineBreak: String {
    var bytes = utf8[...]
    while let last = bytes.last, last == 13 || last == 10 { bytes = bytes.dropLast() }
    return String(Substring(bytes))
  }
}

import FormStreamMultipart
import FormStreamTransfer

/// Where the body of an answer goes, as it comes.
final class AnswerOutput: Sendable {
  private struct State {
    var text = TerminalStream()
    /// Whether anything has come.
    var hasCome = false
  }

  private let file: OutputFile
  private let wantsSeeOther: Bool
  private let state = Guarded(State())
  /// Whether a terminal shows it, which must not be told what to do by whoever answers.
  let isForTerminal: Bool

  /// - Parameter wantsSeeOther: whether a 303 is the answer itself, and no page is fetched.
  init(_ target: OutputTarget, wantsSeeOther: Bool) throws(Failure) {
    self.wantsSeeOther = wantsSeeOther
    file = try OutputFile(target)
    // Not by its name: /dev/tty is one, and so may /dev/stdout be.
    isForTerminal = file.isTerminal
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let shown = state.withLock { state in
      if !bytes.isEmpty { state.hasCome = true }
      return isForTerminal ? state.text.visible(bytes) : nil
    }
    if let shown { try file.write(shown) } else { try file.write(bytes) }
  }

  /// Gives a file its name, where it holds the whole final answer. One that is there already is replaced by
  /// nothing less.
  ///
  /// - Returns: what the person should know where nothing else tells it.
  func finish(_ result: TransferResult) throws(Failure) -> String? {
    if isForTerminal { try file.write(state.withLock { $0.text.rest() }) }
    if let response = result.response, result.outcome != .cancelled, hasAll(of: response) {
      try file.commit()
      return nil
    }
    // The session may hold on to it longer than the program lasts.
    guard file.abandon(), result.outcome == .ok, result.error == nil else { return nil }
    return
      "The request was carried out, but the page that the server names for it could not be had. "
      + "\(file.name) is not written."
  }

  /// Whether all of an answer has come here.
  private func hasAll(of response: TransferResponse) -> Bool {
    if response.isTruncated { return false }
    // It only names the page that was to be the answer, and has no words of its own.
    let isEmptyHint =
      response.status == 303 && !wantsSeeOther && response.headers.contains("Location")
      && !state.withLock(\.hasCome)
    return !isEmptyHint
  }
}

/// Text that comes in pieces, made safe for a terminal: what is not harmless is spelled out, line breaks and
/// tabs stay.
struct TerminalStream {
  /// The beginning of a character whose end has not come.
  private var held: [UInt8] = []

  mutating func visible(_ bytes: UnsafeRawBufferPointer) -> String {
    let all = held + bytes
    let end = Self.endOfWholeCharacters(all)
    held = Array(all[end...])
    return Self.visible(all[..<end])
  }

  mutating func rest() -> String {
    defer { held = [] }
    return Self.visible(held[...])
  }

  private static func visible(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      line.split(separator: 0x09, omittingEmptySubsequences: false).map {
        FormStreamCommand.visible(String(decoding: $0, as: UTF8.self))
      }
      .joined(separator: "\t")
    }
    .joined(separator: "\n")
  }

  /// Behind the last character that is whole, or can't become one.
  private static func endOfWholeCharacters(_ bytes: [UInt8]) -> Int {
    let tail = bytes.suffix(3)
    guard let lead = tail.lastIndex(where: { $0 >= 0xC0 }) else { return bytes.count }
    let length = bytes[lead] >= 0xF0 ? 4 : bytes[lead] >= 0xE0 ? 3 : 2
    return lead + length > bytes.count ? lead : bytes.count
  }
}

import Multipart
import Synchronization
import Transfer

/// Where the body of an answer goes, as it comes.
final class AnswerOutput: Sendable {
  private let file: OutputFile
  /// A terminal must not be told what to do by whoever answers.
  private let isForTerminal: Bool
  private let text = Mutex(TerminalStream())

  init(_ target: OutputTarget) throws(Failure) {
    file = try OutputFile(target)
    isForTerminal = if case .standardOutput = target { isTerminal(.output) } else { false }
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    guard isForTerminal else { return try file.write(bytes) }
    try file.write(text.withLock { $0.visible(bytes) })
  }

  /// Gives a file its name, where the answer came whole.
  func finish(_ result: TransferResult) throws(Failure) {
    if isForTerminal { try file.write(text.withLock { $0.rest() }) }
    if let response = result.response, !response.isTruncated {
      try file.commit()
    } else {
      // The session may hold on to it longer than the program lasts.
      file.abandon()
    }
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

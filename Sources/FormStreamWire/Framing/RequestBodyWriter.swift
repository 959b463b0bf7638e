import FormStreamMultipart

/// Writes the framing of a request's body, and counts the body's bytes. The bytes themselves can be written by the caller, from
/// where they are: the framing stands before and after them.
struct RequestBodyWriter: Sendable {
  private enum State: Sendable {
    /// The number is what is left of a body of known length.
    case length(Int64)
    case chunks
    case ended
  }

  private var state: State
  private var isAbandoned = false

  init(_ framing: RequestHead.Framing) {
    state =
      switch framing {
      case .none, .length(0): .ended
      case .length(let length): .length(length)
      case .chunked: .chunks
      }
  }

  /// Whether the last byte of the body was announced.
  var hasEnded: Bool { if case .ended = state { true } else { false } }

  /// Notes that the body can't be continued or ended.
  mutating func abandon() { isAbandoned = true }

  /// Appends what stands before the next bytes of the body.
  ///
  /// - Parameter count: how many bytes follow. If there are none, nothing is appended: a chunk without bytes would end the body.
  /// - Returns: the framing that stands after the bytes.
  mutating func begin(
    _ count: Int, to output: inout [UInt8]
  ) throws(RequestFlaw) -> StaticString {
    guard !isAbandoned else { throw .bodyAbandoned }
    guard count > 0 else { return "" }
    switch state {
    case .ended: throw .bodyTooLong(by: Int64(count))
    case .length(let left):
      guard Int64(count) <= left else { throw .bodyTooLong(by: Int64(count) - left) }
      state = Int64(count) == left ? .ended : .length(left - Int64(count))
      return ""
    case .chunks:
      output.append(Int64(count), radix: 16)
      output.append("\r\n")
      return "\r\n"
    }
  }

  /// Ends the body, and appends the last chunk of a chunked body.
  mutating func end(
    trailers: HTTPHeaders, to output: inout [UInt8]
  ) throws(RequestFlaw) {
    guard !isAbandoned else { throw .bodyAbandoned }
    switch state {
    case .ended where trailers.isEmpty: return
    case .ended: throw .trailersWithoutChunks
    case .length(let left): throw .bodyTooShort(by: left)
    case .chunks:
      let start = output.count
      output.append("0\r\n")
      do {
        for field in trailers.fields { try HeadWriter.append(trailer: field, to: &output) }
      } catch {
        output.removeLast(output.count - start)
        throw error
      }
      output.append("\r\n")
      state = .ended
    }
  }
}

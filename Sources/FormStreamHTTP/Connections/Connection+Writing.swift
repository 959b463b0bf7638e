import FormStreamNet
import FormStreamPlatform
import FormStreamWire

/// What a connection writes: heads and framing, and the bytes of bodies between them, in one call of the system.
extension Connection {
  /// The room that a piece leaves for the framing after its bytes.
  static let chunkEnd = 2

  /// Whether something was written that the system has not accepted.
  var hasPending: Bool { acceptedOutput < output.count || !unsentPiece.isEmpty }

  /// Announces the first bytes of the piece as the next bytes of the body.
  func announce(_ count: Int) throws(RequestFlaw) {
    let framing = try wire.beginBytes(count, to: &output)
    framing.withUTF8Buffer { bytes in
      UnsafeMutableRawBufferPointer(rebasing: piece[count...]).copyMemory(from: UnsafeRawBufferPointer(bytes))
    }
    unsentPiece = 0..<count + framing.utf8CodeUnitCount
  }

  /// Ends the body. No bytes of it may be pending.
  func endBody() throws(RequestFlaw) { try wire.endBody(to: &output) }

  /// Writes what is pending, as far as the system takes it. Returns how many bytes the system has accepted.
  func write() throws(SystemError) -> Int {
    let start = acceptedOutput
    let result = output.withUnsafeBytes { output -> Result<Int, SystemError> in
      Result { () throws(SystemError) in
        try socket.write(
          UnsafeRawBufferPointer(rebasing: output[start...]), UnsafeRawBufferPointer(rebasing: piece[unsentPiece]))
      }
    }
    let count = try result.get()
    wire.accepted(count)
    let ofOutput = min(count, output.count - acceptedOutput)
    acceptedOutput += ofOutput
    if acceptedOutput == output.count {
      output.removeAll(keepingCapacity: true)
      acceptedOutput = 0
    }
    unsentPiece = unsentPiece.lowerBound + count - ofOutput..<unsentPiece.upperBound
    return count
  }
}

import Dispatch
import FormStream
import FormStreamReceiver
import FormStreamTransfer

/// The outcome is set before the signal, and read after it.
final class Ending: @unchecked Sendable {
  let signal = DispatchSemaphore(value: 0)
  var outcome = TransferResult.Outcome.unknown
}

final class ForwardedPart: PartSink {
  private let chunks: AsyncThrowingStream<[UInt8], any Error>.Continuation
  private let room = DispatchSemaphore(value: 0)
  private let task: TransferTask<TransferResult>

  init(to url: String, in session: TransferSession) throws {
    let (stream, chunks) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    self.chunks = chunks
    // So many pieces may wait. A semaphore that begins with 8 ends the process if it is freed with less.
    for _ in 0..<8 { room.signal() }
    let body = TransferBody.writing { [room] writer in
      for try await chunk in stream {
        try await writer.write(chunk)
        room.signal()
      }
    }
    task = session.start(try TransferRequest(.put, url, body: body))
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    // The client waits while the other server does.
    while room.wait(timeout: .now() + 0.5) == .timedOut { try checkRunning() }
    chunks.yield(Array(bytes))
  }

  func end() throws {
    chunks.finish()
    let ending = Ending()
    Task { [task] in
      ending.outcome = await task.result.outcome
      ending.signal.signal()
    }
    ending.signal.wait()
    guard ending.outcome == .ok else { throw failure }
  }

  private func checkRunning() throws {
    if task.state == .done { throw failure }
  }

  private var failure: UploadRefusal {
    UploadRefusal(.handlingFailed, status: 502, "The part could not be forwarded.")
  }

  // If the upload breaks off, what was forwarded must not look complete.
  deinit { chunks.finish(throwing: CancellationError()) }
}

import FormStreamMultipart
import FormStreamTransfer
import Measuring

/// Fifty uploads at once, on the session of a request that is blocked.
struct Neighbours {
  let session: TransferSession
  let url: String
  let endless: String
  let file: String

  func measure(beside files: [String]) async throws {
    // The first is not measured: it makes the connections.
    _ = try await seconds()
    var alone: [Double] = []
    var besideFile: [Double] = []
    var besideResponse: [Double] = []
    for file in files {
      alone.append(try await seconds())
      besideFile.append(try await seconds(beside: startBlocked(on: session, url, file: file)))
      besideResponse.append(
        try await seconds(beside: startBlocked(on: session, endless, file: nil)))
    }
    print("{\"alone\": \(alone), \"file\": \(besideFile), \"response\": \(besideResponse)}")
  }

  private func seconds(beside blocked: TransferTask<TransferResult>? = nil) async throws -> Double {
    let request = try TransferRequest(.post, url, body: .file(LocalPath(file)))
    let begun = ContinuousClock.now
    let tasks = (0..<50).map { _ in session.start(request) }
    for task in tasks {
      guard await task.result.outcome == .ok else { throw Failure("an upload failed") }
    }
    let time = begun.duration(to: .now)
    blocked?.cancel()
    _ = await blocked?.result
    return time / .seconds(1)
  }
}

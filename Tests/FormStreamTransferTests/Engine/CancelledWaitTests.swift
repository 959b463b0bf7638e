import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// If a task that waits for a request is cancelled, so is the request, whichever call waits.
@Suite(.timeLimit(.minutes(1))) struct CancelledWaitTests {
  private let (reached, goOn): (Gate, Gate)
  private let server: ScriptedServer
  private let session: TransferSession

  init() throws {
    let (reached, goOn) = (try Gate(), try Gate())
    server = try ScriptedServer { _ in [.readBody, .open(reached), .waitFor(goOn), .respond(200)] }
    (self.reached, self.goOn) = (reached, goOn)
    session = try makeSession()
  }

  enum Call: CaseIterable, Sendable {
    case sent, result, open, taskResult, taskResponse, download, downloadResult, downloadFile
  }

  /// `task.result` and `task.response` went on until the server responded.
  @Test(arguments: Call.allCases)
  func `a request ends if the task that waits for it is cancelled`(_ call: Call) async throws {
    let place = try TemporaryDirectory()
    let (session, request) = (session, try makeRequest(.get, server.url, nil))
    let settings = DownloadSettings(.file(place.path("file")))
    let waiting = Task { () -> Bool in
      do {
        switch call {
        case .sent: try await session.send(request)
        case .result: return await session.result(of: request).error?.code == .cancelled
        case .open: _ = try await session.open(request)
        case .taskResult: return await session.start(request).result.error?.code == .cancelled
        case .taskResponse: _ = try await session.start(request).response
        case .download: try await session.download(request.url, settings)
        case .downloadResult:
          return await session.startDownload(request, settings).result.transfer.error?.code
            == .cancelled
        case .downloadFile: _ = try await session.startDownload(request, settings).file
        }
        return false
      } catch {
        return error is CancellationError
      }
    }
    #expect(await eventually { reached.isOpen })
    waiting.cancel()
    #expect(await waiting.value)
    #expect(await eventually { session.tasks.isEmpty })
    #expect(!goOn.isOpen)
  }

  /// A small request was sent, now and then completely, before its cancelled task was looked at.
  @Test(arguments: [Call.sent, .result, .open, .download])
  func `a task that was cancelled before sends nothing`(_ call: Call) async throws {
    let place = try TemporaryDirectory()
    let (session, request) = (session, try makeRequest(.get, server.url, nil))
    let settings = DownloadSettings(.file(place.path("file")))
    for _ in 0..<50 {
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        switch call {
        case .sent: try await session.send(request)
        case .open: _ = try await session.open(request)
        case .download: try await session.download(request.url, settings)
        default:
          let result = await session.result(of: request)
          #expect(result.outcome == .cancelled && result.attempts == 0)
          throw CancellationError()
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    await session.finish()
    #expect(server.connectionCount == 0)
  }

  @Test func `a request goes on if what waits for the session, or watches, is cancelled`()
    async throws
  {
    let (session, request) = (session, try makeRequest(server.url))
    let task = session.start(request)
    let watching = Task { for await _ in task.progress {} }
    let finishing = Task { await session.finish() }
    #expect(await eventually { reached.isOpen })
    watching.cancel()
    finishing.cancel()
    await watching.value
    #expect(task.state == .running)
    goOn.open()
    #expect(await task.result.outcome == .ok)
    await finishing.value
  }
}

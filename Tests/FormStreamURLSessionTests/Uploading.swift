import FormStreamURLSession
import Foundation
import FoundationNetworking
import Synchronization
import FormStreamTestSupport
import Testing

let libcurlLeaks: Comment =
  "libcurl under this Foundation loses some 50 bytes a process, whoever uses it"

/// A form of about 300 KB, which needs several reads: a text, a file in `directory`, and a text.
func sampleForm(in directory: TemporaryDirectory) throws -> Form {
  let path = try directory.write("f", noise(300_000))
  return Form {
    Part.text("a", "1")
    Part.file("f", path)
    Part.text("z", "end")
  }
}

extension ScriptedServer {
  func url(_ path: String) throws -> URL { try #require(URL(string: url + path)) }

  func onlyRequest() throws -> RecordedRequest {
    try #require(requests.count == 1)
    return requests[0]
  }
}

extension [ScriptedStep] {
  static func redirect(_ status: Int, to url: String) -> Self {
    closing(status, headers: [("Location", url)])
  }
}

extension RecordedRequest {
  /// The request line.
  var line: String { "\(method) \(target)" }

  /// The headers that mark the end of the body.
  var framings: [String] {
    headers.map { "\($0.name): \($0.value)".lowercased() }.filter {
      $0.hasPrefix("content-length:") || $0.hasPrefix("transfer-encoding:")
    }
  }
}

/// The two kinds of task that send a stream and report to the delegate of the session.
enum TaskKind: CaseIterable {
  /// A data task, with the stream in the request.
  case data
  /// An upload task, which gets the stream from its delegate.
  case streamed
}

/// A request that sends a form, with a timeout so that a test does not hang.
func uploadRequest(of layout: BodyLayout, to server: ScriptedServer) throws -> URLRequest {
  var request = URLRequest(url: try server.url("/upload"), timeoutInterval: 30)
  request.setBody(of: layout)
  return request
}

/// Sends a request in a task of a kind, in a session with `delegate`, and waits for the end. The
/// delegate has received all calls then: its queue is serial, and the end is the last call.
func send(
  _ request: URLRequest, as kind: TaskKind, with delegate: NotingDelegate
) async throws -> HTTPURLResponse {
  let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
  defer { session.invalidateAndCancel() }
  let task =
    switch kind {
    case .data: session.dataTask(with: request)
    case .streamed: session.uploadTask(withStreamedRequest: request)
    }
  task.resume()
  if let error = await delegate.completion() { throw error }
  return try #require(task.response as? HTTPURLResponse)
}

/// A delegate like that of an application: it forwards the calls for the form, and records all
/// calls.
final class NotingDelegate: NSObject, URLSessionTaskDelegate {
  struct Notes {
    var streamsAsked = 0
    var redirects = 0
    var expected: Set<Int64> = []
    /// The error of the task after its end; nil inside if it did not fail.
    var end: (any Error)??
    var completion: CheckedContinuation<(any Error)?, Never>?
  }

  let form: FormUploadDelegate
  let follows: Bool
  private let state = Mutex(Notes())

  /// - Parameter follows: whether redirects are followed. `FormUploadDelegate` refuses them.
  init(_ form: FormUploadDelegate, follows: Bool = false) {
    self.form = form
    self.follows = follows
  }

  var streamsAsked: Int { state.withLock(\.streamsAsked) }
  var redirects: Int { state.withLock(\.redirects) }
  var expected: Set<Int64> { state.withLock(\.expected) }

  /// Waits for the end of the task. Returns its error, if any.
  func completion() async -> (any Error)? {
    await withCheckedContinuation { continuation in
      state.withLock {
        if let end = $0.end {
          continuation.resume(returning: end)
        } else {
          $0.completion = continuation
        }
      }
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    state.withLock { $0.streamsAsked += 1 }
    form.urlSession(session, task: task, needNewBodyStream: completionHandler)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    state.withLock { $0.redirects += 1 }
    if follows { return completionHandler(request) }
    form.urlSession(
      session, task: task, willPerformHTTPRedirection: response, newRequest: request,
      completionHandler: completionHandler)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    state.withLock { _ = $0.expected.insert(totalBytesExpectedToSend) }
    form.urlSession(
      session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
      totalBytesExpectedToSend: totalBytesExpectedToSend)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    state.withLock {
      $0.end = .some(error)
      $0.completion?.resume(returning: error)
      $0.completion = nil
    }
  }
}

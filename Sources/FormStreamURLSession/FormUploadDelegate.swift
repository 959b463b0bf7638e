public import FormStream
public import Foundation
import FormStreamPlatform

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// The delegate of a `URLSession` that uploads a form: it creates the body, refuses redirects, and
/// reports progress with the total of the form.
///
/// ```swift
/// let layout = try form.layout()
/// var request = URLRequest(url: url)
/// request.setBody(of: layout)
/// let delegate = FormUploadDelegate(layout) { progress in … }
/// let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
/// session.dataTask(with: request).resume()
/// ```
///
/// A `FormUploadDelegate` is for one upload. The delegate of a session with several uploads creates one for each
/// upload, and forwards the three calls below to it. The session's delegate handles the other calls itself, such as the
/// response and the end of the task.
///
/// **Redirects are not followed.** The response of the task is the 3xx response with its
/// `Location`, so that neither the form nor the headers of the request are sent to another server.
/// To follow the redirect, check where it leads and send a new request.
///
/// ## What can't be done on Linux
///
/// URLSession uses libcurl there, and four features are lost:
///
/// 1. **The length is not announced.** A body from a stream is sent chunked. If you set a
///    `Content-Length`, both framings are sent. Servers that require a length refuse such uploads.
/// 2. **A form is not sent again.** If a 307 or 308 is followed, the second request has an empty body and all headers
///    of the first request, even to another host, and the session does not ask for a new stream. This delegate prevents
///    the second request, but only as the delegate of the session. A session without a delegate, such as
///    `URLSession.shared`, follows redirects of `data(for:delegate:)` without asking. The delegate of a task does not
///    receive the progress and the end of a plain task.
/// 3. **The reason for a failure is lost.** If a file has changed or a stream fails, the error is the code -1 of
///    `NSURLErrorDomain`. Keep the stream and read its `streamError`. The session does not close the stream either: the
///    stream's files are closed when the stream is released.
/// 4. **The session has no total.** `totalBytesExpectedToSend` is 0, and the `progress` of the task
///    is useless. Use ``FormUploadProgress``.
///
/// If that is not enough, send the form with FormStreamTransfer, which uses libcurl directly.
public final class FormUploadDelegate: NSObject, URLSessionTaskDelegate {
  /// The form that is sent.
  public let layout: BodyLayout

  private let report: (@Sendable (FormUploadProgress) -> Void)?
  /// The highest number of bytes reported so far.
  private let lastReported = Guarded<Int64>(0)

  /// Creates a delegate for one upload.
  ///
  /// - Parameters:
  ///   - layout: the layout that the request was created with.
  ///   - progress: called on the delegate queue of the session. The byte count grows with each
  ///     call, and never exceeds the length of the form, even if the session starts again.
  public init(_ layout: BodyLayout, progress: (@Sendable (FormUploadProgress) -> Void)? = nil) {
    self.layout = layout
    report = progress
  }

  /// Gives the session a new stream at the start of the form.
  ///
  /// `uploadTask(withStreamedRequest:)` needs this stream. On Linux such a task sends `Expect: 100-continue`, and waits
  /// a second if the server ignores the header. A data task reads the stream of the request immediately.
  ///
  /// A one-shot form is not sent twice: the second stream fails with `notReplayable`.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    completionHandler(FormInputStream(layout))
  }

  /// Refuses to follow the redirect: the 3xx response becomes the response of the task.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  /// Reports progress if the number of sent bytes has grown.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    guard let report else { return }
    let total = layout.contentLength
    let sent = min(totalBytesSent, total ?? .max)
    let hasAdvanced = lastReported.withLock { most in
      defer { most = max(most, sent) }
      return sent > most
    }
    if hasAdvanced { report(FormUploadProgress(bytesSent: sent, bytesTotal: total)) }
  }
}

public import FormStream
public import Foundation
import FormStreamPlatform

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// What a `URLSession` has to ask while it sends one form: for the body, and what to do with a redirect.
/// It also tells how far the upload is, with the form's own total.
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
/// It belongs to one upload. The delegate of a session that does more holds one of these for each
/// upload, and passes the three calls on; it also gets the answer and the end of the task.
///
/// **Redirects are not followed.** The answer of the task is the 3xx itself, with its `Location`, so that
/// neither the form nor the request's headers go where you did not send them. To follow it, look at
/// where it leads and send a new request.
///
/// ## What can't be done on Linux
///
/// URLSession sits on libcurl there, and four things are lost between them:
///
/// 1. **The length is not announced.** A body from a stream goes out chunked; with a `Content-Length`
///    beside it, both framings go out. Servers that insist on a length can't be served.
/// 2. **A form is not sent again.** Where a 307 or 308 is followed, the second request has an empty body
///    and all of the first one's headers, whatever host it goes to, and no new stream is asked for.
///    Only this delegate keeps the session from it, and only as the session's delegate: a session without
///    one, such as `URLSession.shared`, follows redirects of `data(for:delegate:)` without asking; and a
///    task's own delegate is not told of a plain task's progress and end.
/// 3. **The reason of a failure is lost.** Where a file has changed or a stream fails, the error is
///    `NSURLErrorDomain` -1 and nothing else: keep the stream, and ask it for its `streamError`.
///    Nor is the stream closed, at the end or after an error: its files close when it is let go.
/// 4. **The session knows no total.** `totalBytesExpectedToSend` is 0, and the task's `progress` has
///    nothing to go by; hence ``FormUploadProgress``.
///
/// Where that is too little, send the form with libcurl itself and not with URLSession.
public final class FormUploadDelegate: NSObject, URLSessionTaskDelegate {
  /// The form that is sent.
  public let layout: BodyLayout

  private let report: (@Sendable (FormUploadProgress) -> Void)?
  /// The most bytes that were reported.
  private let mostSent = Guarded<Int64>(0)

  /// Makes a delegate for one upload.
  ///
  /// - Parameters:
  ///   - layout: the form, laid out: the one that the request was given.
  ///   - progress: called on the session's delegate queue, each time with more bytes than before and
  ///     with no more than the form has, also where the session begins anew.
  public init(_ layout: BodyLayout, progress: (@Sendable (FormUploadProgress) -> Void)? = nil) {
    self.layout = layout
    report = progress
  }

  /// Gives the session a fresh stream at the start of the form.
  ///
  /// `uploadTask(withStreamedRequest:)` asks for one. On Linux such a task sends `Expect: 100-continue`, and
  /// waits a second where the server ignores that; a data task takes the request's own stream at once.
  ///
  /// A form that can be read once is not sent twice: the second stream fails with `notReplayable`.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    completionHandler(FormInputStream(layout))
  }

  /// Refuses: the redirect becomes the task's answer.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  /// Reports how far the upload is, where it got further.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    guard let report else { return }
    let total = layout.contentLength
    let sent = min(totalBytesSent, total ?? .max)
    let isMore = mostSent.withLock { most in
      defer { most = max(most, sent) }
      return sent > most
    }
    if isMore { report(FormUploadProgress(bytesSent: sent, bytesTotal: total)) }
  }
}

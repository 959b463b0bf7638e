import FormStreamMultipart
import FormStreamTransfer

// The rows about attempts without a response, and about redirects.
extension AttemptDecisionTests {
  // MARK: No response

  static let failuresOfOurs = [
    Row(
      "cancelled before sending", .post, .silent(.notSent, .cancelled),
      .conclude(.cancelled, .cancelled)),
    Row(
      "cancelled while sending", .post, .silent(.partlySent, .cancelled),
      .conclude(.cancelled, .cancelled)),
    Row(
      "the file changed", .put, .silent(.partlySent, .sourceChanged),
      .conclude(.sourceChanged, .sourceChanged)),
    Row(
      "the file changed, with a response", .put, .truncated(413, .sourceChanged, .permanent),
      .conclude(.sourceChanged, .sourceChanged)),
    Row(
      "the source failed", .put, .silent(.partlySent, .streamFailed, fromSource: true),
      .conclude(.failed, .streamFailed)),
    Row(
      "the source failed at once", .put, .silent(.notSent, .streamFailed, fromSource: true),
      .conclude(.failed, .streamFailed)),
  ]

  static let silence = [
    Row(
      "nothing is listening", .post, .silent(.notSent, .connectFailed, .transient),
      .retry(.retryable, .connectFailed)),
    Row(
      "nothing is listening, in the last attempt", .post.onTry(3),
      .silent(.notSent, .connectFailed, .transient), .conclude(.retryable, .connectFailed)),
    Row("no such host", .post, .silent(.notSent, .hostNotFound), .conclude(.failed, .hostNotFound)),
    Row(
      "an untrusted certificate", .put, .silent(.notSent, .certificateRefused),
      .conclude(.failed, .certificateRefused)),
    Row(
      "sent in part", .post, .silent(.partlySent, .connectionLost, .transient),
      .retry(.retryable, .connectionLost)),
    Row(
      "sent in part, under TLS", .post,
      .silent(.partlySent, .connectionLost, .transient).encrypted, .retry(.unknown, .connectionLost)
    ),
    Row(
      "sent in part, in the last attempt", .post.onTry(3),
      .silent(.partlySent, .connectionLost, .transient), .conclude(.retryable, .connectionLost)),
    Row(
      "a one-shot body sent in part", .post.afterOneShot,
      .silent(.partlySent, .stalled, .transient),
      .conclude(.retryable, .stalled, saying: "can be read once")),
    Row(
      "POST sent", .post, .silent(.sent, .connectionLost, .transient),
      .conclude(.unknown, .connectionLost)),
    Row(
      "MKCOL sent", .makeCollection, .silent(.sent, .connectionLost, .transient),
      .conclude(.unknown, .connectionLost)),
    // The next response says whether the collection is there: 201 or 405.
    Row(
      "MKCOL sent, with 405 as a success", .makeCollection.accepting(405), .silent(.sent, .connectionLost, .transient),
      .conclude(.retryable, .connectionLost)),
    Row(
      "MKCOL sent, with 405 as a success, unsafe retries", .makeCollection.accepting(405).retryingUnsafe,
      .silent(.sent, .connectionLost, .transient), .retry(.retryable, .connectionLost)),
    Row(
      "MKCOL cancelled, with 405 as a success", .makeCollection.accepting(405), .silent(.sent, .cancelled),
      .conclude(.cancelled, .cancelled)),
    Row(
      "GET, and the response is malformed", .get, .silent(.sent, .malformedResponse),
      .conclude(.failed, .malformedResponse)),
    Row(
      "PUT, and the response is malformed", .put, .silent(.sent, .malformedResponse),
      .conclude(.unknown, .malformedResponse)),
    Row(
      "PATCH sent", .patch, .silent(.sent, .responseTimedOut, .transient),
      .conclude(.unknown, .responseTimedOut)),
    Row(
      "PUT sent", .put, .silent(.sent, .connectionLost, .transient),
      .retry(.unknown, .connectionLost)),
    Row(
      "DELETE sent", .delete, .silent(.sent, .connectionLost, .transient),
      .retry(.unknown, .connectionLost)),
    Row(
      "GET sent", .get, .silent(.sent, .connectionLost, .transient),
      .retry(.retryable, .connectionLost)),
    Row(
      "POST sent with an idempotency key", .post.withKey,
      .silent(.sent, .connectionLost, .transient), .retry(.unknown, .connectionLost)),
    Row(
      "POST sent, unsafe retries", .post.retryingUnsafe,
      .silent(.sent, .connectionLost, .transient), .retry(.unknown, .connectionLost)),
    Row(
      "PUT sent, in the last attempt", .put.onTry(3), .silent(.sent, .connectionLost, .transient),
      .conclude(.unknown, .connectionLost)),
    Row(
      "a one-shot body sent by PUT", .put.afterOneShot,
      .silent(.sent, .connectionLost, .transient),
      .conclude(.unknown, .connectionLost, saying: "can be read once")),
  ]

  // MARK: Redirects

  static let redirects = [
    Row("POST, 307", .post, .status(307, to: "/b"), .follow("http://a.example/b")),
    Row(
      "POST, 308, absolute", .post, .status(308, to: "http://a.example/b?c"),
      .follow("http://a.example/b?c")),
    Row("POST, 301", .post, .status(301, to: "/b"), .conclude(.failed, .redirectRefused)),
    Row("POST, 302", .post, .status(302, to: "/b"), .conclude(.failed, .redirectRefused)),
    Row("DELETE, 302", .delete, .status(302, to: "/b"), .conclude(.failed, .redirectRefused)),
    Row("POST, 307 without Location", .post, .status(307), .conclude(.failed, .statusRefused)),
    Row("GET, 301", .get, .status(301, to: "/b"), .follow("http://a.example/b")),
    Row("GET, 302", .get, .status(302, to: "/b"), .follow("http://a.example/b")),
    Row("GET, 303", .get, .status(303, to: "/b"), .follow("http://a.example/b")),
    Row("GET, 307", .get, .status(307, to: "/b"), .follow("http://a.example/b")),
    Row("GET, 308", .get, .status(308, to: "/b"), .follow("http://a.example/b")),
    Row("GET, 300", .get, .status(300, to: "/b"), .conclude(.failed, .redirectRefused)),
    Row("GET, 304", .get, .status(304, to: "/b"), .conclude(.failed, .redirectRefused)),
    Row(
      "307 to ftp", .post, .status(307, to: "ftp://a.example/"),
      .conclude(.failed, .redirectRefused)),
    Row(
      "307 to another host", .post, .status(307, to: "http://b.example/"),
      .conclude(.failed, .redirectRefused)),
    Row(
      "307 to another port", .post, .status(307, to: "http://a.example:8080/"),
      .conclude(.failed, .redirectRefused)),
    Row(
      "307 to another host, allowed", .post.leavingOrigin, .status(307, to: "http://b.example/"),
      .follow("http://b.example/")),
    Row(
      "307 from http to https, allowed", .post.leavingOrigin,
      .status(307, to: "https://a.example/"),
      .follow("https://a.example/")),
    Row(
      "307 from https to http", .post.leavingOrigin.overTLS, .status(307, to: "http://a.example/"),
      .conclude(.failed, .redirectRefused)),
    Row(
      "GET, 302 from https to http", .get.leavingOrigin.overTLS,
      .status(302, to: "http://a.example/"), .conclude(.failed, .redirectRefused)),
    Row(
      "the fifth redirect", .post.redirected(4), .status(307, to: "/b"),
      .follow("http://a.example/b")),
    Row(
      "the sixth redirect", .post.redirected(5), .status(307, to: "/b"),
      .conclude(.failed, .tooManyRedirects)),
    Row(
      "GET, the sixth redirect", .get.redirected(5), .status(302, to: "/b"),
      .conclude(.failed, .tooManyRedirects)),
    Row(
      "307 to a begun pipe", .post.lacking(.oneShot).afterOneShot, .status(307, to: "/b"),
      .conclude(.failed, .notReplayable, saying: "TransferOptions.spoolsBody")),
    Row(
      "307 to a used one-shot body", .post.afterOneShot, .status(307, to: "/b"),
      .conclude(.failed, .notReplayable, saying: "can be read once")),
  ]

  static let pages = [
    Row("POST, 303", .post, .status(303, to: "/done"), .fetchPage("http://a.example/done")),
    Row(
      "a one-shot body, 303", .post.afterOneShot, .status(303, to: "/done"),
      .fetchPage("http://a.example/done")),
    Row("POST, 303 to another host", .post, .status(303, to: "http://b.example/"), .conclude(.ok)),
    Row("POST, 303 to ftp", .post, .status(303, to: "ftp://a.example/"), .conclude(.ok)),
    Row(
      "POST, 303 after five redirects", .post.redirected(5), .status(303, to: "/done"),
      .conclude(.ok)),
    Row("the page: 200", .page, .status(200), .conclude(.ok)),
    Row("the page: 404", .page, .status(404), .keepEarlierResponse),
    Row("the page: 503 is not retried", .page, .status(503), .keepEarlierResponse),
    Row("the page: a redirect", .page, .status(302, to: "/b"), .follow("http://a.example/b")),
    Row(
      "the page: a redirect to another host", .page, .status(302, to: "http://b.example/"),
      .keepEarlierResponse),
    Row(
      "the page: one redirect too many", .page.redirected(5), .status(302, to: "/b"),
      .keepEarlierResponse),
    Row(
      "the page: no response", .page, .silent(.sent, .connectionLost, .transient),
      .keepEarlierResponse),
    Row("the page: cancelled", .page, .silent(.sent, .cancelled), .keepEarlierResponse),
    Row("the page: incomplete", .page, .truncated(200, .connectionLost), .keepEarlierResponse),
    Row(
      "the page: incomplete, to a stream", .page.toStream, .truncated(200, .connectionLost),
      .conclude(.ok, .connectionLost)),
  ]
}

import FormStreamMultipart
import FormStreamTransfer
import Testing

/// The contract of retries, redirects and outcomes as a table: what was attempted, what is known about it, what
/// follows. The rows were written by hand from the contract.
@Suite struct AttemptDecisionTests {
  @Test(arguments: successes + refusals + gateways + earlyResponses + incompleteResponses)
  func `a response decides what follows`(row: Row) throws {
    try row.check()
  }

  @Test(arguments: repeated)
  func `after an attempt that may have been carried out, only a wanted status settles it`(row: Row)
    throws
  {
    try row.check()
  }

  @Test(arguments: cancelled)
  func `cancelling doesn't undo what the server did`(row: Row) throws {
    try row.check()
  }

  @Test(arguments: [(true, false), (false, true)])
  func `the head of a 417 goes to the caller unless it rejects Expect`(
    sentExpect: Bool, isFinal: Bool
  ) throws {
    let facts = AttemptFacts(headWithStatus: 417, HTTPHeaders(), sentExpect: sentExpect)
    #expect(try Sent.post.attempt().decision(on: facts).isFinal == isFinal)
  }

  @Test(arguments: failuresOfOurs + silence)
  func `without a response, the stage and the failure decide`(row: Row) throws {
    try row.check()
  }

  @Test(arguments: redirects + pages)
  func `a redirect is followed only if its target can stand for the request`(row: Row) throws {
    try row.check()
  }

  /// At this point nothing is known but the head. Everything else is assumed to go well.
  @Test(
    arguments: [
      (Sent.post, 200, nil, true), (.post, 404, nil, true), (.post, 503, nil, false),
      (.post.onTry(3), 503, nil, true), (.post.afterOneShot, 503, nil, true),
      (.post, 500, nil, true), (.put, 500, nil, false), (.post, 302, "/b", true),
      (.post, 303, "/b", false), (.post, 303, "http://b.example/", true),
      (.post, 307, "/b", false), (.get, 302, "/b", false), (.get, 302, nil, true),
      (.page, 200, nil, true), (.page, 404, nil, false), (.page, 302, "/b", false),
      (.page, 302, "http://b.example/", false),
    ] as [(Sent, Int, String?, Bool)])
  func `the head of a response decides whether its body goes to the caller`(
    sent: Sent, status: Int, location: String?, isFinal: Bool
  ) throws {
    var headers = HTTPHeaders()
    if let location { headers.append("Location", location) }
    let facts = AttemptFacts(headWithStatus: status, headers)
    #expect(try sent.attempt().decision(on: facts).isFinal == isFinal)
  }

  // MARK: Responses to the complete request

  static let successes = [
    Row("200", .post, .status(200), .conclude(.ok)),
    Row("204", .post, .status(204), .conclude(.ok)),
    Row("299", .post, .status(299), .conclude(.ok)),
    Row("GET, 200", .get, .status(200), .conclude(.ok)),
    Row("404 if accepted", .post.accepting(404), .status(404), .conclude(.ok)),
    Row(
      "302 if accepted is not followed", .post.accepting(302), .status(302, to: "/b"),
      .conclude(.ok)),
    Row("503 if accepted is not retried", .post.accepting(503), .status(503), .conclude(.ok)),
    Row(
      "200 if not accepted", .post.accepting(404), .status(200),
      .conclude(.failed, .statusRefused)),
  ]

  static let refusals = [
    Row("400", .post, .status(400), .conclude(.failed, .statusRefused)),
    Row(
      "401", .post, .status(401),
      .conclude(.failed, .statusRefused, saying: "doesn't say which credentials")),
    Row(
      "401 to credentials that wait", .post.authenticating.onTry(3), .status(401),
      .authenticate(.failed, .statusRefused)),
    Row(
      "401 in the middle of the body", .post.authenticating, .early(401),
      .authenticate(.failed, .statusRefused)),
    Row(
      "401 to a used one-shot body", .post.authenticating.afterOneShot, .status(401),
      .conclude(.failed, .notReplayable, saying: "it was begun")),
    Row(
      "401 to a begun pipe", .post.authenticating.lacking(.oneShot).afterOneShot, .status(401),
      .conclude(.failed, .notReplayable, saying: "TransferOptions.spoolsBody")),
    Row("401 if accepted", .post.authenticating.accepting(401), .status(401), .conclude(.ok)),
    Row(
      "401 after an attempt without a response", .put.authenticating.inDoubt, .status(401),
      .authenticate(.unknown, .statusRefused)),
    Row("401 to a page", .page, .status(401), .keepEarlierResponse),
    Row("401 to a page, credentials", .page.authenticating, .status(401), .authenticate(.ok, nil)),
    Row("501 to a PUT", .put, .status(501), .conclude(.failed, .statusRefused)),
    Row("411 to a body with a length", .post, .status(411), .conclude(.failed, .statusRefused)),
    Row("411 to chunks", .post.lacking(.measurable), .status(411), .repeatWithLength),
    Row("501 to chunks", .post.lacking(.measurable), .early(501), .repeatWithLength),
    Row(
      "411 to chunks, in doubt", .put.lacking(.measurable).inDoubt, .status(411), .repeatWithLength),
    Row(
      "400 to chunks", .post.lacking(.measurable), .status(400),
      .conclude(.failed, .statusRefused)),
    Row(
      "411 to chunks of a stream", .post.lacking(.oneShot), .status(411),
      .conclude(.failed, .statusRefused, saying: "TransferOptions.spoolsBody")),
    Row(
      "411 to chunks of a stream, in doubt", .put.lacking(.oneShot).inDoubt, .status(411),
      .conclude(.unknown, .statusRefused)),
    Row(
      "200 in HTTP/1.0 to chunks", .post.lacking(.oneShot), .old(200),
      .conclude(.unknown, .lengthRequired)),
    Row(
      "200 in HTTP/1.0 to chunks that can be measured", .post.lacking(.measurable), .old(200),
      .conclude(.unknown, .lengthRequired)),
    Row(
      "200 in HTTP/1.0 to chunks, PUT", .put.lacking(.measurable), .old(200), .repeatWithLength),
    Row(
      "200 in HTTP/1.0 to chunks, idempotency key", .post.withKey.lacking(.measurable), .old(200),
      .repeatWithLength),
    Row(
      "200 in HTTP/1.0 to chunks, unsafe retries", .post.retryingUnsafe.lacking(.measurable),
      .old(200), .repeatWithLength),
    Row(
      "200 in HTTP/1.0 to chunks of a stream, PUT", .put.lacking(.oneShot), .old(200),
      .conclude(.unknown, .lengthRequired)),
    Row("200 in HTTP/1.0", .post, .old(200), .conclude(.ok)),
    Row(
      "501 to chunks of a stream", .post.lacking(.oneShot), .status(501),
      .conclude(.failed, .statusRefused, saying: "may not support the method")),
    Row("429", .post, .status(429), .retry(.retryable, .statusRefused)),
    Row("503", .post, .status(503), .retry(.retryable, .statusRefused)),
    Row(
      "503 with Retry-After", .post, .status(503, after: .seconds(7)),
      .retry(.retryable, .statusRefused, after: .seconds(7))),
    Row(
      "503 to the last attempt", .post.onTry(3), .status(503), .conclude(.retryable, .statusRefused)
    ),
    Row(
      "503 to the second attempt", .post.onTry(2), .status(503), .retry(.retryable, .statusRefused)),
    Row(
      "503 to a used one-shot body", .post.afterOneShot, .status(503),
      .conclude(.retryable, .statusRefused, saying: "can be read once")),
    Row(
      "503 to a begun pipe", .post.lacking(.oneShot).afterOneShot, .status(503),
      .conclude(.retryable, .statusRefused, saying: "TransferOptions.spoolsBody")),
    Row("408 to a POST", .post, .status(408), .conclude(.failed, .statusRefused)),
    Row("425 to a POST", .post, .status(425), .conclude(.failed, .statusRefused)),
    Row("500 to a POST", .post, .status(500), .conclude(.failed, .statusRefused)),
    Row("500 to a PATCH", .patch, .status(500), .conclude(.failed, .statusRefused)),
    Row("408 to a PUT", .put, .status(408), .retry(.retryable, .statusRefused)),
    Row("425 to a PUT", .put, .status(425), .retry(.retryable, .statusRefused)),
    Row("500 to a PUT", .put, .status(500), .retry(.retryable, .statusRefused)),
    Row("504 to a GET", .get, .status(504), .retry(.retryable, .statusRefused)),
    Row(
      "500 with an idempotency key", .post.withKey, .status(500), .retry(.retryable, .statusRefused)
    ),
    Row(
      "500, unsafe retries", .post.retryingUnsafe, .status(500), .retry(.retryable, .statusRefused)),
    Row(
      "500 to the last attempt", .put.onTry(3), .status(500), .conclude(.retryable, .statusRefused)),
    Row("417 that rejects Expect", .post, .expectRejected(417), .repeatWithoutExpect),
    Row(
      "a kept connection that was of no use", .post.onTry(3), .notLookedAt(.onNewConnection),
      .repeatAtOnce(.onNewConnection)),
    Row(
      "a server that demands HTTP/1.1 after a POST", .post, .demandingHTTP11(.sent),
      .conclude(.unknown, .http2Unavailable)),
    Row(
      "a server that demands HTTP/1.1 after a PUT", .put.onTry(3), .demandingHTTP11(.sent),
      .repeatOverHTTP11),
    Row(
      "a server that demands HTTP/1.1 after a key", .post.withKey, .demandingHTTP11(.sent),
      .repeatOverHTTP11),
    Row(
      "a server that demands HTTP/1.1 during a POST", .post, .demandingHTTP11(.partlySent),
      .repeatOverHTTP11),
    Row(
      "a server that demands HTTP/1.1 during a stream", .post.afterOneShot,
      .demandingHTTP11(.partlySent), .conclude(.failed, .http2Unavailable)),
    Row(
      "a server that demands what a setting forbids, GET", .get,
      .demandingHTTP11(.sent, .forbidden),
      .conclude(.failed, .http2Unavailable)),
    Row(
      "a server that demands what a setting forbids, PUT", .put,
      .demandingHTTP11(.sent, .forbidden),
      .conclude(.unknown, .http2Unavailable)),
    Row(
      "a server that demands HTTP/1.1 for a page", .page, .demandingHTTP11(.sent), .repeatOverHTTP11
    ),
    Row(
      "a kept connection that was of no use to a page", .page, .notLookedAt(.onNewConnection),
      .repeatAtOnce(.onNewConnection)),
    Row(
      "417 that rejects Expect, in the last attempt", .post.onTry(3), .expectRejected(417),
      .repeatWithoutExpect),
    Row("417 to a body", .post, .status(417), .conclude(.failed, .statusRefused)),
  ]

  static let gateways = [
    Row("502 to a POST", .post, .status(502), .conclude(.unknown, .statusRefused)),
    Row("504 to a PATCH", .patch, .status(504), .conclude(.unknown, .statusRefused)),
    Row("524 to a POST", .post, .status(524), .conclude(.unknown, .statusRefused)),
    Row(
      "504, unsafe retries", .post.retryingUnsafe, .status(504), .retry(.unknown, .statusRefused)),
    Row("502 to a MKCOL", .makeCollection, .status(502), .conclude(.unknown, .statusRefused)),
    Row(
      "502 to a MKCOL with 405 as a success", .makeCollection.accepting(405), .status(502), .retry(.retryable, .statusRefused)),
    Row("502 to a DELETE", .delete, .status(502), .retry(.retryable, .statusRefused)),
    Row(
      "502 with an idempotency key", .post.withKey, .status(502), .retry(.retryable, .statusRefused)
    ),
    Row(
      "502 before the end of the body", .post, .early(502), .conclude(.retryable, .statusRefused)),
    Row("a gateway's 503", .post, .gateway(503), .conclude(.unknown, .statusRefused)),
    Row(
      "a gateway's 503 with Retry-After", .post, .gateway(503, after: .zero),
      .retry(.retryable, .statusRefused, after: .zero)),
    Row("a gateway's 503 to a PUT", .put, .gateway(503), .retry(.retryable, .statusRefused)),
    // Regression: a proxy's 503 was taken for a gateway's only if it said that it is one.
    Row("a proxy's 503", .post.throughProxy, .status(503), .conclude(.unknown, .statusRefused)),
    Row(
      "a proxy's 503 with Retry-After", .post.throughProxy, .status(503, after: .zero),
      .retry(.retryable, .statusRefused, after: .zero)),
    Row(
      "a proxy's 503 to a PUT", .put.throughProxy, .status(503),
      .retry(.retryable, .statusRefused)),
    Row("a gateway's 429", .post, .gateway(429), .retry(.retryable, .statusRefused)),
    Row("a gateway's 500", .post, .gateway(500), .conclude(.failed, .statusRefused)),
  ]

  static let repeated = [
    Row("200", .put.inDoubt, .status(200), .conclude(.ok)),
    Row("303", .put.inDoubt, .status(303, to: "/b"), .fetchPage("http://a.example/b")),
    Row("307", .put.inDoubt, .status(307, to: "/b"), .follow("http://a.example/b")),
    Row("400", .put.inDoubt, .status(400), .conclude(.unknown, .statusRefused)),
    Row("412", .put.inDoubt, .status(412), .conclude(.unknown, .statusRefused)),
    Row(
      "422 with a key", .post.withKey.inDoubt, .status(422), .conclude(.unknown, .statusRefused, saying: "An earlier attempt")),
    Row(
      "422 with a key, after a 502", .post.withKey.afterServerFailure, .status(422), .conclude(.unknown, .statusRefused)),
    Row("422 with a key", .post.withKey, .status(422), .conclude(.failed, .statusRefused)),
    Row(
      "409 with a key", .post.withKey.inDoubt, .status(409),
      .conclude(.unknown, .statusRefused, saying: "earlier attempt")),
    Row("302", .put.inDoubt, .status(302, to: "/b"), .conclude(.unknown, .redirectRefused)),
    Row("429", .put.inDoubt, .status(429), .retry(.unknown, .statusRefused)),
    Row(
      "503 to the last", .put.inDoubt.onTry(3), .status(503), .conclude(.unknown, .statusRefused)),
    Row(
      "502 to the last", .put.inDoubt.onTry(3), .status(502), .conclude(.unknown, .statusRefused)),
    Row(
      "nothing is listening", .put.inDoubt, .silent(.notSent, .connectFailed, .transient),
      .retry(.unknown, .connectFailed)),
    Row(
      "sent in part, the last", .put.inDoubt.onTry(3),
      .silent(.partlySent, .connectionLost, .transient), .conclude(.unknown, .connectionLost)),
    Row("cancelled", .put.inDoubt, .silent(.notSent, .cancelled), .conclude(.unknown, .cancelled)),
    Row(
      "the file changed", .put.inDoubt, .silent(.partlySent, .sourceChanged),
      .conclude(.unknown, .sourceChanged)),
    Row(
      "503 after a 500", .put.afterServerFailure.onTry(3), .status(503),
      .conclude(.retryable, .statusRefused)),
    Row(
      "400 after a 500", .put.afterServerFailure, .status(400), .conclude(.unknown, .statusRefused)),
    Row(
      "cancelled after a 500", .put.afterServerFailure, .silent(.notSent, .cancelled),
      .conclude(.unknown, .cancelled)),
  ]

  static let cancelled = [
    Row(
      "POST, 200", .post, .truncated(200, .cancelled, .permanent), .conclude(.ok, .cancelled)),
    Row(
      "POST, 404", .post, .truncated(404, .cancelled, .permanent), .conclude(.cancelled, .cancelled)
    ),
    Row(
      "POST, 504", .post, .truncated(504, .cancelled, .permanent), .conclude(.unknown, .cancelled)),
    Row("PUT, 504", .put, .truncated(504, .cancelled, .permanent), .conclude(.unknown, .cancelled)),
    Row(
      "POST, 503", .post, .truncated(503, .cancelled, .permanent), .conclude(.cancelled, .cancelled)
    ),
    Row(
      "GET, 200", .get, .truncated(200, .cancelled, .permanent), .conclude(.cancelled, .cancelled)),
    Row("POST, sent", .post, .silent(.sent, .cancelled), .conclude(.unknown, .cancelled)),
    Row("GET, sent", .get, .silent(.sent, .cancelled), .conclude(.cancelled, .cancelled)),
    Row(
      "POST, sent in part", .post, .silent(.partlySent, .cancelled).encrypted,
      .conclude(.cancelled, .cancelled)),
  ]

  static let earlyResponses = [
    Row(
      "200 before the end of the body", .post, .early(200), .conclude(.unknown, .respondedEarly)),
    Row(
      "200 before the end of the body, repeatable", .put, .early(200),
      .conclude(.unknown, .respondedEarly)),
    Row("413 before the end of the body", .post, .early(413), .conclude(.failed, .statusRefused)),
    Row("503 before the end of the body", .post, .early(503), .retry(.retryable, .statusRefused)),
    Row(
      "303 before the end of the body", .post, .early(303, to: "/b"),
      .conclude(.unknown, .respondedEarly)),
    Row(
      "307 before the end of the body", .post, .early(307, to: "/b"), .follow("http://a.example/b")),
  ]

  static let incompleteResponses = [
    Row(
      "POST, 200, the response incomplete", .post, .truncated(200, .connectionLost),
      .conclude(.ok, .connectionLost)),
    Row(
      "POST, 200, the response not stored", .post, .truncated(200, .responseNotStored, .permanent),
      .conclude(.ok, .responseNotStored)),
    Row(
      "GET, 200, the response incomplete", .get, .truncated(200, .connectionLost),
      .retry(.retryable, .connectionLost)),
    Row(
      "GET, 200, the response incomplete, in the last attempt", .get.onTry(3),
      .truncated(200, .connectionLost), .conclude(.retryable, .connectionLost)),
    Row(
      "GET, 200, the response incomplete, to a stream", .get.toStream,
      .truncated(200, .connectionLost), .conclude(.retryable, .connectionLost)),
    Row(
      "GET, 200, the response not stored", .get, .truncated(200, .responseNotStored, .permanent),
      .conclude(.failed, .responseNotStored)),
    Row("GET, 200, over the limit that is kept", .get, .truncated(200, nil), .conclude(.ok)),
    Row(
      "GET, 404, the response incomplete", .get, .truncated(404, .connectionLost),
      .conclude(.failed, .statusRefused)),
  ]
}

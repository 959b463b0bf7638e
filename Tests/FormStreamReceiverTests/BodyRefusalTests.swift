import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// What is refused in the midst of a body, or at its end.
@Suite struct BodyRefusalTests {
  private static func form(_ body: String, type: String = "multipart/form-data; boundary=b")
    -> String
  {
    "POST /f HTTP/1.1\r\nHost: h\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
      + "Connection: close\r\n\r\n\(body)"
  }

  private static let part =
    "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n"

  @Test(arguments: [
    ("", "0"), ("rubbish", "7"), (part, "63"), (part + "abc", "66"), (part + "abc\r\n--b", "71"),
    (part + "abc\r\n--b-", "72"), ("--b\r\nX\r\n\r\n\r\n--b--", ""), ("--b\r\n\r\nx\r\n--b--", ""),
  ])
  func `a form that is none, or cut`(_ body: String, _ offset: String) async throws {
    let stand = try Stand()
    let answer = try await stand.answer(to: Self.form(body))
    #expect(answer.status == 400)
    #expect(answer.text.contains("byte \(offset)"), "\(answer.text)")
    #expect(answer.text.contains("\"complete\":false"))
    let told = try #require(try await stand.told(1).first)
    #expect(told.status == 400)
    #expect(told.json == answer.text)
    #expect(stand.handler.alive == 0)
    #expect(stand.handler.state.withLock(\.ended) == 0)
  }

  @Test(arguments: [
    "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
    "multipart/form-data; boundary=a; boundary=b", "multipart/mixed", "multipart/form-data;",
    "multipart/form-data; boundary=\(String(repeating: "x", count: 71))", "multipart/",
  ])
  func `a form without a boundary`(_ type: String) async throws {
    let stand = try Stand()
    let answer = try await stand.answer(to: Self.form("--b--\r\n", type: type))
    #expect(answer.status == 400, "\(answer)")
    #expect(stand.handler.targets == [])
  }

  @Test(arguments: [
    "multipart/form-data; boundary=b", "Multipart/Form-Data; Boundary=b",
    "multipart/form-data; boundary=\"b\"", "multipart/form-data;boundary=b;charset=utf-8",
    "multipart/form-data; charset=\"a;boundary=x\"; boundary=b", "multipart/form-data ; boundary=b",
    "multipart/mixed; boundary=b", "MULTIPART/RELATED;boundary=b",
  ])
  func `a form whatever its type is written like`(_ type: String) async throws {
    let stand = try Stand()
    let answer = try await stand.answer(to: Self.form("\(Self.part)abc\r\n--b--\r\n", type: type))
    #expect(answer.status == 200, "\(answer)")
    #expect(
      stand.handler.kept == [.init(name: "a", filename: "f", bytes: Array("abc".utf8))])
  }

  @Test func `limits of a form`() async throws {
    let stand = try Stand {
      $0.limits.form.parts = 2
      $0.limits.form.headerBlock = 200
    }
    let small = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
    for (body, status) in [
      (small + small + "--b--", 200), (small + small + small + "--b--", 413),
      ("--b\r\nX: \(String(repeating: "x", count: 300))\r\n\r\n\r\n--b--", 413),
    ] {
      let answer = try await stand.answer(to: Self.form(body))
      #expect(answer.status == status)
      #expect(answer.text.contains("limit-exceeded") == (status == 413))
    }
  }

  private static func `throw`(
    _ error: any Error, at place: KeepingHandler.Place
  ) -> KeepingHandler {
    KeepingHandler { where_, _ in if where_ == place { throw error } }
  }

  @Test(arguments: KeepingHandler.Place.allCases, [false, true])
  func `a handler that fails is answered with 500, and not quoted`(
    _ place: KeepingHandler.Place, isRaw: Bool
  ) async throws {
    struct Secret: Error {
      let path = "/secret"
    }
    let stand = try Stand(Self.throw(Secret(), at: place))
    let answer = try await stand.answer(
      to: isRaw
        ? Self.form("abc", type: "text/plain") : Self.form("\(Self.part)abc\r\n--b--\r\n"))
    #expect(answer.status == 500)
    #expect(answer.text.contains("\"code\":\"handling-failed\""))
    #expect(!answer.description.contains("ecret"))
    let told = try await stand.told(1)
    #expect(told.count == 1)
    #expect(told.first?.underlying is Secret)
    #expect(told.first?.status == 500)
    #expect(stand.handler.alive == 0)
  }

  @Test(arguments: KeepingHandler.Place.allCases)
  func `a handler that refuses is answered with its words`(
    _ place: KeepingHandler.Place
  ) async throws {
    let refusal = UploadRefusal(.init(rawValue: "too-odd"), status: 422, "It is \"odd\".")
    let stand = try Stand(Self.throw(refusal, at: place))
    let answer = try await stand.answer(to: Self.form("\(Self.part)abc\r\n--b--\r\n"))
    #expect(answer.status == 422)
    #expect(
      answer.text.contains("\"error\":{\"code\":\"too-odd\",\"message\":\"It is \\\"odd\\\".\"}"))
    #expect(stand.handler.alive == 0)
  }

  @Test(arguments: [0, 99, 100, 200, 204, 304, 399, 600, -1])
  func `a refusal is no success`(_ status: Int) async throws {
    let refusal = UploadRefusal(.noRoom, status: status, "No.")
    let stand = try Stand(Self.throw(refusal, at: .end))
    #expect(try await stand.answer(to: Self.form("--b--", type: "text/plain")).status == 500)
  }

  @Test func `a connection goes on after an upload that was refused at its end`() async throws {
    let stand = try Stand(
      KeepingHandler { place, request in
        if place == .end, request.target == "/f" { throw TestError(1) }
      })
    let body = "\(Self.part)abc\r\n--b--\r\n"
    let head = "HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    let answers = try await stand.answers(
      to: "POST /f \(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        + "POST /g \(head)Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(answers.map(\.status) == [500, 200])
  }

  @Test func `who is refused in the midst of a body is answered, and let go`() async throws {
    let stand = try Stand(Self.throw(TestError(1), at: .bytes))
    let answers = try await stand.answers(
      to: "POST /f HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"
        + String(repeating: "x", count: 500_000))
    #expect(answers.map(\.status) == [500])
    #expect(answers.first?.closes == true)
    #expect(answers.first?.headers("Date").first?.hasSuffix(" GMT") == true)
  }
}

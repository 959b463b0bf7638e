import FormStreamMultipart
import FormStreamTransfer
import Testing

/// The headers of a request as a value. What may be sent is in `RequestHeadTests`.
@Suite struct HTTPHeadersTests {
  private func pairs(_ headers: HTTPHeaders) -> [String] {
    headers.map { "\($0.name)=\($0.value)" }
  }

  @Test func `a literal keeps its order and repeats`() {
    let headers: HTTPHeaders = ["X-B": "1", "x-a": "2", "X-B": "3"]
    #expect(pairs(headers) == ["X-B=1", "x-a=2", "X-B=3"])
    #expect(headers["x-b"] == "1")
    #expect(headers["X-C"] == nil)
    #expect(headers.count == 3)
    #expect(HTTPHeaders([("X-B", "1"), ("x-a", "2"), ("X-B", "3")]) == headers)
    let dictionary = ["X-B": "1", "X-A": "2"]
    #expect(HTTPHeaders(dictionary) == ["X-A": "2", "X-B": "1"])
  }

  @Test func `setting replaces all lines of a name, at the place of the first`() {
    var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3", "C": "4"]
    headers.set("a", " 5 ")
    #expect(pairs(headers) == ["a=5", "B=2", "C=4"])
    headers["b"] = "6"
    headers["D"] = "7"
    #expect(pairs(headers) == ["a=5", "b=6", "C=4", "D=7"])
    headers["c"] = nil
    headers.remove("A")
    headers.remove("A")
    #expect(pairs(headers) == ["b=6", "D=7"])
    headers.append("d", "8")
    #expect(pairs(headers) == ["b=6", "D=7", "d=8"])
  }

  @Test func `a value that was marked as a secret is one until it is set again`() {
    var headers = HTTPHeaders()
    headers.append("X-Mine", "canary", isSecret: true)
    headers.set("X-Other", "canary", isSecret: true)
    #expect(headers.map(\.isSecret) == [true, true])
    #expect(!"\(Array(headers))".contains("canary"))
    headers["X-Mine"] = "open"
    #expect(headers.map(\.isSecret) == [false, true])
  }
}

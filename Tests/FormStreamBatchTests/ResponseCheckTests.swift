import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform
import Testing

@testable import FormStreamBatch
@testable import FormStreamHTTP

/// What a server says of the files it received.
@Suite struct ResponseCheckTests {
  private static let digest = SHA256Digest(String(repeating: "ab", count: 32))

  private func mismatch(
    _ path: String, _ body: String, at place: Int = 0, isTruncated: Bool = false,
    digest: SHA256Digest? = digest
  ) throws -> String? {
    let check = ResponseCheck(of: try #require(ResponsePath(path)))
    let response = try makeResponse(200, body, isTruncated: isTruncated)
    return check.mismatch(in: .init(response), at: place, size: 12, digest: digest)
  }

  @Test(arguments: [
    ("size", #"{"size":12}"#), ("a.b[1].c", #"{"a":{"b":[0,{"c":12}]}}"#), ("[0]", "[12]"),
    ("[0][1]", "[[0,12]]"), ("a", #"{"a":"\#(String(repeating: "ab", count: 32))"}"#),
    ("a", #"{"a":"\#(String(repeating: "AB", count: 32))"}"#), ("a[{i}]", #"{"a":[12]}"#),
  ])
  func `a number is the size, and a text is the digest`(_ path: String, _ body: String) throws {
    #expect(try mismatch(path, body) == nil)
  }

  @Test(arguments: [
    ("a", #"{"a":11}"#, "the server has 11 bytes, and the file has 12"),
    ("a", #"{"a":1}"#, "the server has 1 byte, and the file has 12"),
    ("a", #"{"a":"ab"}"#, #"the server has the digest "ab", and the file abab"#),
    ("a", #"{"a":null}"#, #"the response has no text or number at "a""#),
    ("a.b", #"{"a":12}"#, #"the response has no text or number at "a.b""#),
    ("a[1]", #"{"a":[12]}"#, #"the response has no text or number at "a[1]""#),
    ("a", "[12]", #"the response has no text or number at "a""#),
    ("a", "", "the response is not JSON, or too long"),
    ("a", "{", "the response is not JSON, or too long"),
  ])
  func `anything else does not confirm the file`(
    _ path: String, _ body: String, _ reason: String
  ) throws {
    #expect(try mismatch(path, body)?.hasPrefix(reason) == true)
  }

  @Test func `a part of a response and a missing digest confirm nothing`() throws {
    #expect(try mismatch("a", #"{"a":12}"#, isTruncated: true) != nil)
    #expect(try mismatch("a", #"{"a":"ab"}"#, digest: nil) == "the file has no digest")
  }

  @Test func `each file of a request has its own place`() throws {
    let body = #"{"files":[{"size":1},{"size":12}]}"#
    #expect(try #require(ResponsePath("files[{i}].size")).namesPlace)
    #expect(try mismatch("files[{i}].size", body, at: 1) == nil)
    #expect(try mismatch("files[{i}].size", body, at: 0) != nil)
    let missing = try mismatch("files[{i}].size", body, at: 2)
    #expect(missing == #"the response has no text or number at "files[2].size""#)
    #expect(try #require(ResponsePath("size")).namesPlace == false)
  }

  @Test(arguments: [
    "", ".", "a.", ".a", "a..b", "a[", "a[]", "a[b]", "a[0", "a[0]b", "a[-1]", "a[0].",
    "a.[0]", "a[99999999999999999999]", "a[{j}]",
  ])
  func `a path that is none is refused`(_ path: String) {
    #expect(ResponsePath(path) == nil)
  }
}

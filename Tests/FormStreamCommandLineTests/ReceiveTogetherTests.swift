import FormStreamTestSupport
import Testing

/// The files of a request are stored all together, or not at all.
@Suite struct ReceiveTogetherTests {
  private static let four = ["one", "keep.txt", "a/x", "four"].flatMap {
    ["-F", "f=x;filename=\($0)"]
  }

  /// The third file can't be stored: all names for its directory are taken. The first two files once stayed.
  @Test(arguments: [[], ["--overwrite"]])
  func `a request that fails at its end leaves nothing`(_ flags: [String]) throws {
    let place = try TemporaryDirectory()
    _ = try shell(
      "mkdir kept; cd kept; printf old > keep.txt; touch a; for n in {2..100}; do touch a-$n; done",
      in: place)
    let receiver = try Receiving(["--into", "kept", "--keep-paths"] + flags, in: place)
    let result = try run("formstream", ["post", "--json"] + Self.four + [receiver.url])
    #expect(result.output.contains(#""status":500"#), "\(result.output)")
    let record = try receiver.record()
    #expect(record.contains(#""code":"handling-failed""#), "\(record)")
    #expect(record.split(separator: #""stored_as":null"#).count == 5, "\(record)")
    #expect(try receiver.names(in: "kept").count == 101)
    #expect(try receiver.shell("cat kept/*").output == "old")
  }

  /// Regression: two files were both reported as stored under one name.
  @Test func `a file never replaces another file of the same request`() throws {
    let receiver = try Receiving("--into", "kept", "--overwrite")
    for text in ["old", "new"] {
      let result = try receiver.post(
        "-F", "f=\(text);filename=a.txt", "-F", "f=\(text) 2;filename=a.txt")
      #expect(result.output.contains(#""stored_as":"a.txt""#), "\(result.output)")
    }
    #expect(
      try receiver.shell("grep -H . kept/*").output
        == "kept/a-2.txt:old 2\nkept/a-3.txt:new 2\nkept/a.txt:new\n")
  }
}

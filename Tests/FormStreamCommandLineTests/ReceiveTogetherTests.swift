import FormStreamTestSupport
import Testing

/// What one request stores is stored together.
@Suite struct ReceiveTogetherTests {
  private static let four = ["one", "keep.txt", "a/x", "four"].flatMap {
    ["-F", "f=x;filename=\($0)"]
  }

  /// There is no place for the third: its directory's name and all like it are taken. The first two stayed.
  @Test(arguments: [[], ["--overwrite"]])
  func `a request that fails in the end leaves nothing`(_ flags: [String]) throws {
    let place = try TemporaryDirectory()
    _ = try shell(
      "mkdir kept; cd kept; printf old > keep.txt; touch a; for n in {2..100}; do touch a-$n; done",
      in: place)
    let receiver = try Receiving(["--into", "kept", "--keep-paths"] + flags, in: place)
    let said = try run("formstream", ["post", "--json"] + Self.four + [receiver.url])
    #expect(said.output.contains(#""status":500"#), "\(said.output)")
    let record = try receiver.record()
    #expect(record.contains(#""code":"handling-failed""#), "\(record)")
    #expect(record.split(separator: #""stored_as":null"#).count == 5, "\(record)")
    #expect(try receiver.names(in: "kept").count == 101)
    #expect(try receiver.shell("cat kept/*").output == "old")
  }

  /// Both were called stored under one name.
  @Test func `a file does not take the place of one that came with it`() throws {
    let receiver = try Receiving("--into", "kept", "--overwrite")
    for text in ["old", "new"] {
      let said = try receiver.post(
        "-F", "f=\(text);filename=a.txt", "-F", "f=\(text) 2;filename=a.txt")
      #expect(said.output.contains(#""stored_as":"a.txt""#), "\(said.output)")
    }
    #expect(
      try receiver.shell("grep -H . kept/*").output
        == "kept/a-2.txt:old 2\nkept/a-3.txt:new 2\nkept/a.txt:new\n")
  }
}

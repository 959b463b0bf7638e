import FormStreamTestSupport
import Testing

/// The files of a request are stored all together, or not at all.
@Suite struct ReceiveTogetherTests {
  private static let four = ["one", "keep.txt", "a/x", "four"].flatMap {
    ["-F", "f=x;filename=\($0)"]
  }

  /// The third file can't be stored: its directory is on another disk. The first two files once stayed.
  @Test(
    .enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"),
    arguments: [[], ["--overwrite"]])
  func `a request that fails at its end leaves nothing`(_ flags: [String]) throws {
    let place = try TemporaryDirectory()
    _ = try shell(
      "mkdir -p kept/a; printf old > kept/keep.txt; mount -t tmpfs -o size=64k tmpfs kept/a",
      in: place)
    defer { _ = try? shell("umount --lazy kept/a", in: place) }
    let receiver = try Receiving(["--into", "kept", "--keep-paths"] + flags, in: place)
    let result = try run("formstream", ["post", "--json"] + Self.four + [receiver.url])
    #expect(result.output.contains(#""status":500"#), "\(result.output)")
    let record = try receiver.record()
    #expect(record.contains(#""code":"handling-failed""#), "\(record)")
    #expect(record.split(separator: #""stored_as":null"#).count == 5, "\(record)")
    #expect(try receiver.names(in: "kept") == ["a", "keep.txt"])
    #expect(try receiver.names(in: "kept/a") == [])
    #expect(try receiver.shell("cat kept/keep.txt").output == "old")
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

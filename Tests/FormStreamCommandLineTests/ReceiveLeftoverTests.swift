import FormStreamTestSupport
import Testing

/// What `receive` removes from its directory when it starts.
@Suite struct ReceiveLeftoverTests {
  /// Regression: every name of letters and digits after `.formstream-` was taken for one of its own.
  @Test func `files of the user are kept, and so is the file with the token`() throws {
    let place = try TemporaryDirectory()
    let names = [".formstream-cache", ".formstream-cfg", ".formstream-notes", ".formstream-token"]
    _ = try shell(
      "mkdir kept; for n in \(names.joined(separator: " ")); do echo t > kept/$n; done; chmod 600 kept/.f*; "
        + "touch -d '2 days ago' kept/.f*", in: place)
    let receiver = try Receiving(
      "--into", "kept", "--token-file", "kept/.formstream-token", in: place)
    #expect(try receiver.names(in: "kept") == names)
    #expect(try receiver.end().exit == 0)
  }
}

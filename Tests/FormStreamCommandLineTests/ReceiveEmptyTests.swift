import FormStreamTestSupport
import Testing

/// `receive --once`: it ends with 0 only after something has arrived.
@Suite struct ReceiveEmptyTests {
  /// Regression: the page without a file, or a form without parts, ended it with 0.
  @Test(arguments: [
    "-F 'file=;filename='", "-H 'Content-Type: multipart/form-data; boundary=B' -d --B--",
    "-H 'Content-Type: application/x-www-form-urlencoded' -d ''",
    "-F a=", "-F a= -F 'file=;filename='", "-d a=", "-d =",
  ])
  func `an upload without contents does not end it`(_ empty: String) throws {
    let receiver = try Receiving("--once", "--into", "kept")
    let result = try receiver.shell(
      "\(curl) \(empty) $U && \(curl) \(empty) $U && \(curl) -F 'f=x;filename=n' $U")
    #expect(result.output == "200\n200\n200\n", "\(result)")
    let end = try receiver.wait()
    #expect(end.exit == 0)
    #expect(end.stderr.contains("holds nothing"), "\(end.stderr)")
    #expect(try receiver.names(in: "kept") == ["n"])
  }

  @Test(arguments: ["-d a=b", "-F a=b", "-T /dev/null", "-F 'f=;filename=n'"])
  func `an upload of text or of an empty file ends it`(_ upload: String) throws {
    let receiver = try Receiving("--once")
    #expect(try receiver.shell("\(curl) \(upload) $U/n").output == "200\n")
    #expect(try receiver.wait().exit == 0)
  }
}

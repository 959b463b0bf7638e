import FormStreamTestSupport
import Testing

/// `--answer` and `--delay`: responses that an upload client is tested with.
@Suite struct ReceiveAnswerTests {
  @Test(arguments: [200, 201, 299, 302])
  func `an upload is stored, and gets the status with the record`(_ status: Int) throws {
    let receiver = try Receiving("--into", "kept", "--answer", "\(status)")
    let result = try receiver.shell("\(curl) -F 'f=abc;filename=n' -F t=v $U; cat kept/n")
    #expect(result.output == "\(status)\nabc")
    let record = try receiver.record()
    #expect(record.contains(#""complete":true"#) && record.hasSuffix(#""status":\#(status)}"#))
    #expect(record.contains(#""size":3,"sha256":"ba7816bf"#), "\(record)")
    #expect(try receiver.shell("cat answer").output == "\(record)\n")
  }

  @Test(arguments: [204, 205, 304])
  func `a status without a body has none`(_ status: Int) throws {
    let receiver = try Receiving("--into", "kept", "--answer", "\(status)")
    let result = try receiver.shell(
      "\(curl) -F 'f=abc;filename=n' $U; [ ! -s answer ]; echo $?; cat kept/n")
    #expect(result.output == "\(status)\n0\nabc", "\(result.stderr)")
    #expect(try receiver.record().hasSuffix(#""status":\#(status)}"#))
  }

  @Test(arguments: [400, 401, 404, 418, 429, 500, 503, 599])
  func `a refused upload is not kept, and its record says what has arrived`(
    _ status: Int
  ) throws {
    let receiver = try Receiving("--into", "kept", "--answer", "\(status)", "--once")
    let result = try receiver.shell(
      "\(curl) -F 'f=abc;filename=n' -F t=v $U; \(curl) -T /dev/null $U/m; \(curl) $U; ls -A kept")
    #expect(result.output == "\(status)\n\(status)\n200\n", "\(result.stderr)")
    let record = try receiver.record()
    #expect(record.contains(#""size":3,"sha256":"ba7816bf"#), "\(record)")
    #expect(record.contains(#""value":"v""#) && record.contains(#""complete":false"#))
    #expect(record.contains(#""error":{"code":"refused","#), "\(record)")
    #expect(record.hasSuffix(#""status":\#(status)}"#))
    #expect(try receiver.end().exit != 0, "--once does not end for them")
  }

  @Test func `what is refused for another reason gets its own status`() throws {
    let receiver = try Receiving("--answer", "201", "--max-body", "10")
    let result = try receiver.shell(
      "\(curl) -d a=b $U; \(curl) -d a=0123456789 $U; \(curl) -X DELETE $U")
    #expect(result.output == "201\n413\n405\n")
  }

  /// Our own client, and what it says of such a server.
  @Test func `post sees what the status means`() throws {
    for (status, exit) in [(201, Int32(0)), (404, 1), (503, 75)] {
      let receiver = try Receiving("--answer", "\(status)")
      #expect(try receiver.post("-F", "a=b").exit == exit)
    }
  }

  /// The delay is too long for any test: the response comes because the receiver ends.
  @Test func `a delay is between the upload and its response, and ends with the receiver`() throws {
    let receiver = try Receiving("--into", "kept", "--delay", "100000")
    let client = try RawClient.uploading(to: receiver, size: 3, sent: 3)
    _ = try receiver.shell("until [ -e kept/held ]; do sleep 0.01; done")
    #expect(try receiver.shell("cat kept/held").output == "xxx")
    receiver.signal(15)
    #expect(try client.response().hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(try receiver.wait().exit == 0)
  }

  /// While one client waits, others are served: each has its own thread.
  @Test func `a delayed upload that is refused leaves nothing`() throws {
    let receiver = try Receiving("--into", "kept", "--delay", "100000", "--answer", "500")
    let client = try RawClient.uploading(to: receiver, size: 3, sent: 3)
    // Its file has no name. It has all its bytes only when they have arrived.
    _ = try receiver.shell("until stat -Lc %s /proc/\(receiver.pid)/fd/* | grep -qx 3; do sleep 0.01; done 2> /dev/null")
    let other = try receiver.shell("\(curl) $U")
    #expect(other.output == "200\n")
    receiver.signal(15)
    #expect(try client.response().hasPrefix("HTTP/1.1 500 "))
    #expect(try receiver.wait().exit == 0)
    #expect(try receiver.names(in: "kept").isEmpty)
  }
}

import FormStreamTestSupport
import Testing

/// `--sync`, seen by the system calls of the receiver.
@Suite struct ReceiveSyncTests {
  @Test(arguments: [["--sync"], ["--sync", "--overwrite"], []])
  func `files and names are on the disk before the response`(_ flags: [String]) throws {
    let place = try TemporaryDirectory()
    let receiver = try Receiving(
      shell: "strace -f -y -o trace -e trace=fsync,linkat,renameat,renameat2,sendto,sendmsg,writev "
        + "$F receive --json --listen 0 --once --into kept --keep-paths \(flags.joined(separator: " "))",
      in: place)
    let upload = try receiver.post("-F", "f=x;filename=new/one", "-F", "f=y;filename=two")
    #expect(upload.exit == 0, "\(upload.stderr)")
    _ = try receiver.wait()
    let calls = try shell("cat trace", in: place).output.split(separator: "\n").map(String.init)
    func last(_ texts: String...) -> Int? {
      calls.lastIndex { call in texts.allSatisfy(call.contains) }
    }
    guard flags.contains("--sync") else { return #expect(last(" fsync(") == nil, "\(calls)") }
    let response = try #require(last("HTTP/1.1 200 OK"), "\(calls)")
    let named = try #require(calls.lastIndex { $0.contains("\"two\"") || $0.contains("\"one\"") })
    let contents = calls.indices.filter {
      calls[$0].contains(" fsync(")
        && (calls[$0].contains("/kept/#") || calls[$0].contains("/.formstream-"))
    }
    #expect(contents.count == 2, "\(calls)")
    for index in contents { #expect(index < named, "\(calls)") }
    for directory in ["/kept>)", "/kept/new>)"] {
      let synced = try #require(last(" fsync(", directory), "\(calls)")
      #expect(named < synced && synced < response, "\(calls)")
    }
  }
}

import FormStreamTestSupport
import Foundation
import Testing

/// `formstream get` that is killed at a single system call: strace sends the signal.
@Suite struct KilledGetTests {
  /// The calls that name, change and remove files.
  private static let calls = [
    "linkat", "renameat", "renameat2", "unlinkat", "ftruncate", "write", "fsync", "fchmod",
  ]

  @Test(arguments: ["-o f", "-o f -C -", "-J"])
  func `leaves nothing that stops the next one`(_ flags: String) throws {
    let resource = ContinuableResource(
      bytes: noise(300_000), disposition: "attachment; filename=\"f\"")
    let server = try ScriptedServer { resource.response(to: $0) }
    let get = ["get", "-q"] + flags.split(separator: " ").map(String.init) + [server.url + "/f"]
    var kills = 0
    for call in Self.calls {
      for number in 1... {
        let place = try TemporaryDirectory()
        let result = try run(
          program: "/usr/bin/strace",
          [
            "-f", "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "trace=\(call)", "-e",
            "inject=\(call):signal=SIGKILL:when=\(number)", builtBinary("formstream"),
          ] + get, in: place, environment: underStrace)
        // There are no more such calls.
        guard result.signal != nil else { break }
        kills += 1
        let what = "killed at \(call) \(number)"
        let left = try names(in: place)
        #expect(Set(left).isSubset(of: ["f", "f.part", "f.part.json"]), "\(what): \(left)")
        let next = try run("formstream", get, in: place)
        #expect(next.exit == 0, "\(what): \(next.stderr)")
        // What had got its name before the kill is not replaced by `-J`.
        let stored = left.contains("f") && flags == "-J" ? ["f", "f-2"] : ["f"]
        #expect(try names(in: place) == stored, "\(what): left \(left)")
        for name in stored {
          let bytes = try Data(contentsOf: URL(filePath: place.path(name)))
          #expect(bytes.elementsEqual(resource.bytes), "\(what): \(name)")
        }
      }
    }
    #expect(kills > 10)
  }

  /// The names in the directory but temporary ones: a process that is killed while it replaces a record can't remove the
  /// new one's.
  private func names(in place: TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.path)
      .filter { !$0.hasPrefix(".formstream-") }.sorted()
  }
}

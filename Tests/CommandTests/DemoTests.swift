import Multipart
import TestSupport
import Testing

@Suite struct DemoTests {
  @Test func `all that the demo sends arrives, and nothing of it is left`() throws {
    let place = try TemporaryDirectory()
    let demo = try run("formstream", ["demo"], environment: ["TMPDIR": place.path])
    #expect(demo.exit == 0, "\(demo.stderr)")
    let lines = demo.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("part") == true)
    #expect(lines.count { $0.hasSuffix("  ok") } == 6)
    #expect(demo.output.contains("image/png") && demo.output.contains("text/markdown"))
    #expect(lines.last == "All that arrived is what was sent.")
    #expect(try shell("ls -A \(place.path)").output == "")
  }

  /// 512 MiB do not fit.
  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `a disk that is full is a failure that is told`() throws {
    try SmallDisk.mounted(size: "16m", files: 100) { disk in
      let demo = try run("formstream", ["demo"], environment: ["TMPDIR": disk.description])
      #expect(demo.exit == 74)
      #expect(demo.stderr.contains("No space left on device"))
      #expect(try shell("ls -A \(disk)").output == "")
    }
  }
}

public import FormStreamMultipart

/// A small file system in memory. Only root may mount one, and not in every container.
public enum SmallDisk {
  /// Whether one can be mounted.
  public static let isAllowed =
    isSuperuser && (try? mounted(size: "64k", files: 10) { _ in }) != nil

  private struct NotMounted: Error {
    let output: String
  }

  /// Mounts a file system, calls `body` with its path, and unmounts it.
  public static func mounted(
    size: String, files: Int, _ body: (LocalPath) throws -> Void
  ) throws {
    let place = try TemporaryDirectory()
    let options = "size=\(size),nr_inodes=\(files)"
    let mount = try run(
      program: "/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", place.path])
    guard mount.exit == 0 else { throw NotMounted(output: mount.stderr) }
    // Lazily, because an open file would prevent it otherwise.
    defer { _ = try? run(program: "/bin/umount", ["--lazy", place.path]) }
    try body(LocalPath(place.path))
  }
}

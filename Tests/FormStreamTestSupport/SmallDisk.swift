public import FormStreamMultipart

/// A file system of its own that holds little. Only root may mount one, and not in every container.
public enum SmallDisk {
  /// Whether one can be mounted.
  public static let isAllowed =
    isSuperuser && (try? mounted(size: "64k", files: 10) { _ in }) != nil

  private struct NotMounted: Error {
    let said: String
  }

  /// Does something with one, and takes it away.
  public static func mounted(
    size: String, files: Int, _ body: (LocalPath) throws -> Void
  ) throws {
    let place = try TemporaryDirectory()
    let options = "size=\(size),nr_inodes=\(files)"
    let mount = try run(
      program: "/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", place.path])
    guard mount.exit == 0 else { throw NotMounted(said: mount.stderr) }
    // Lazily: what is still open on it must not keep it.
    defer { _ = try? run(program: "/bin/umount", ["--lazy", place.path]) }
    try body(LocalPath(place.path))
  }
}

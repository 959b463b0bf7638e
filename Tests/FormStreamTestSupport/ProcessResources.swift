import Glibc

/// The threads, descriptors and memory of this process.
public struct ProcessResources: Sendable {
  /// The name of each thread.
  public var threads: [String]
  /// The target of each open descriptor.
  public var descriptors: [String]
  /// Its resident memory in KiB.
  public var residentKiB: Int

  /// The current resources.
  public static func now() -> ProcessResources {
    let threads = entries(of: "/proc/self/task").compactMap {
      firstLine("/proc/self/task/\($0)/comm")
    }
    let descriptors = entries(of: "/proc/self/fd").compactMap { target("/proc/self/fd/\($0)") }
    let pages = firstLine("/proc/self/statm")?.split(separator: " ").dropFirst().first
    return ProcessResources(
      threads: threads, descriptors: descriptors,
      residentKiB: pages.flatMap { Int($0) }.map { $0 * sysconf(Int32(_SC_PAGESIZE)) / 1024 } ?? 0)
  }
}

/// The open descriptors of this process. There may be thousands, if tests run beside each other.
public func openDescriptors() -> [Int32] {
  entries(of: "/proc/self/fd").compactMap { Int32($0) }
}

private func entries(of directory: String) -> [String] {
  guard let stream = opendir(directory) else { return [] }
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    guard let start = entry.pointer(to: \.d_name) else { continue }
    let name = String(cString: UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self))
    if !name.hasPrefix(".") { names.append(name) }
  }
  return names
}

private func firstLine(_ path: String) -> String? {
  guard let file = fopen(path, "re") else { return nil }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  guard fgets(&line, Int32(line.count), file) != nil else { return nil }
  return String(
    decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

private func target(_ link: String) -> String? {
  var buffer = [CChar](repeating: 0, count: 512)
  let count = readlink(link, &buffer, buffer.count)
  guard count >= 0 else { return nil }
  return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
}

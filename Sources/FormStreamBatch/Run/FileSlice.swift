/// A piece of a file that is sent in a request of its own.
struct FileSlice: Hashable, Sendable {
  /// The size of all slices except the last.
  let size: Int64
  /// The size of the file.
  let total: Int64
  /// Where the slice begins in the file.
  let offset: Int64

  /// The slice that begins at an offset; nil if no slice begins there. A file without bytes has one slice.
  init?(at offset: Int64, of size: Int64, in total: Int64) {
    guard size > 0, offset >= 0, offset < max(total, 1), offset % size == 0 else { return nil }
    (self.size, self.total, self.offset) = (size, total, offset)
  }

  var length: Int64 { min(size, total - offset) }
  /// The position of the slice among the slices of the file, from 0.
  var index: Int64 { offset / size }
  /// The number of slices.
  var count: Int64 { total == 0 ? 1 : (total - 1) / size + 1 }
  /// The next slice; nil after the last.
  var next: FileSlice? {
    length < total - offset ? FileSlice(at: offset + length, of: size, in: total) : nil
  }
}

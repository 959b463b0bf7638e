import FormStreamJSON

/// Which slices of a file are accepted, over several runs.
package struct SliceProgress: Hashable, Sendable {
  /// The size of the slices.
  let size: Int64
  private(set) var accepted: AcceptedSlices
  /// Whether slices of another size, or slices of the file as it was before a change, were accepted as well.
  private(set) var hasOthers = false

  init(size: Int64, accepted: AcceptedSlices) {
    (self.size, self.accepted) = (size, accepted)
  }

  /// Whether the server has accepted any slice.
  var isBegun: Bool { accepted.bytes > 0 || hasOthers }

  /// The next slice of a file with `total` bytes; nil if slices now have another size, or if the file was changed since the
  /// last slice was accepted.
  func next(of sliceSize: Int64, in total: Int64, changed: Int64) -> FileSlice? {
    guard size == sliceSize, accepted.changed == changed else { return nil }
    return FileSlice(at: accepted.bytes, of: size, in: total)
  }

  /// This progress for a file that has to be sent from its beginning.
  var unusable: SliceProgress {
    var progress = self
    (progress.accepted.bytes, progress.hasOthers) = (0, true)
    return progress
  }

  /// Notes that slices of another size or version were accepted as well.
  mutating func noteOthers() { hasOthers = true }

  /// Joins the progress that two journals report. The order of the journals does not matter. If their slices don't match,
  /// the slices that can be continued are kept: slices of the preferred size, and of the latest version of the file.
  func joined(_ other: SliceProgress, preferring size: Int64?) -> SliceProgress {
    func rank(_ progress: SliceProgress) -> (Int, Int64, Int64, Int64) {
      (
        progress.size == size ? 1 : 0, progress.accepted.changed, progress.size,
        progress.accepted.bytes
      )
    }
    var joined = rank(self) < rank(other) ? other : self
    joined.hasOthers =
      hasOthers || other.hasOthers || self.size != other.size
      || accepted.changed != other.accepted.changed
    return joined
  }
}

extension SliceProgress {
  /// The progress as a manifest has it, for a round that goes on with the file.
  var json: JSONValue {
    [
      "size": .integer(size), "accepted": .integer(accepted.bytes),
      "ctime_ns": .integer(accepted.changed),
    ]
  }

  /// Reads the progress; nil if the value is none.
  init?(_ json: JSONValue) {
    guard let size = json["size"]?.integer, size > 0,
      let bytes = json["accepted"]?.integer, bytes >= 0,
      let changed = json["ctime_ns"]?.integer
    else { return nil }
    self.init(size: size, accepted: AcceptedSlices(bytes: bytes, changed: changed))
  }
}

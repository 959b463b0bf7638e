import FormStreamPlatform

/// Finding out how long streams of unknown length are, before the body is sent.
extension BodyLayout {
  /// Reads streams of unknown length ahead. If all of them are read to their end, the body's length is known
  /// afterwards, and the body can be read again.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of bytes that are kept in memory. If a stream has more, its reader continues where
  ///     reading ahead ended.
  ///   - directory: the directory for a temporary file, which stores such a stream completely; nil to store no stream.
  ///   - interruption: ends the reading.
  ///   - noteRead: is called with the number of bytes that were read so far.
  package func readAhead(
    upTo limit: Int, spoolingIn directory: LocalPath?,
    interruptedBy interruption: SourceInterruption,
    _ noteRead: (Int64) -> Void
  ) throws(MultipartError) -> BodyLayout {
    var replacements: [(index: Int, segment: Segment)] = []
    var spooled: [(index: Int, name: String, range: Range<Int64>)] = []
    var spool: SpoolFile?
    var (room, read) = (limit, Int64(0))
    for (index, segment) in segments.enumerated() {
      guard case .stream(let origin) = segment.content, segment.length == nil else { continue }
      let source = PeekedSource(try origin.open(for: segment.name))
      interruption.begin(source)
      defer { interruption.end() }
      let start = read
      let bytes = try source.readAhead(upTo: room, of: segment.name) { count in
        read += Int64(count)
        noteRead(read)
      }
      let rest = origin.resuming(source)
      if let bytes {
        try checkCollisions(in: bytes, ofSegment: index)
        room -= bytes.count
        replacements.append((index, segment.read(bytes)))
      } else if let directory {
        let file: SpoolFile
        if let spool { file = spool } else { file = try SpoolFile(in: directory) }
        let reader = try StreamReader(
          rest, part: segment.name, scanningFor: scannedStreams[index] ?? [],
          interruptedBy: interruption)
        let range = try file.append(reader) { count in
          // The bytes that were read ahead come first, and were counted already.
          read = max(read, start + count)
          noteRead(read)
        }
        spool = file
        spooled.append((index, segment.name, range))
      } else {
        replacements.append(
          (index, Segment(content: .stream(rest), length: nil, name: segment.name)))
        // Without the length of this stream, the lengths of the others are of no use.
        break
      }
    }
    // The file's identity is known only after the last byte was written.
    for (index, name, range) in spooled {
      guard let extent = try spool?.extent(range) else { continue }
      replacements.append(
        (index, Segment(content: .file(extent), length: extent.length, name: name)))
    }
    return try replacing(replacements)
  }

  private func checkCollisions(in bytes: [UInt8], ofSegment index: Int) throws(MultipartError) {
    for boundary in scannedStreams[index] ?? [] {
      var scan = CollisionScan(for: boundary)
      guard bytes.withUnsafeBytes({ scan.finds(in: $0) }) else { continue }
      throw CollisionScan.collision(boundary, in: segments[index].name)
    }
  }

  /// Reads streams of unknown length once, to count their bytes. All these streams must be replayable. If a stream
  /// later has a different number of bytes, reading fails with `sourceChanged`.
  package func measured(
    interruptedBy interruption: SourceInterruption
  ) throws(MultipartError) -> BodyLayout {
    var replacements: [(index: Int, segment: Segment)] = []
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    defer { scratch.deallocate() }
    for (index, segment) in segments.enumerated() {
      guard case .stream(let origin) = segment.content, segment.length == nil else { continue }
      let reader = try StreamReader(
        origin, part: segment.name, scanningFor: [], interruptedBy: interruption)
      var length: Int64 = 0
      while case let count = try reader.read(into: scratch), count > 0 { length += Int64(count) }
      replacements.append(
        (
          index,
          Segment(content: .stream(origin.measured(as: length)), length: length, name: segment.name)
        ))
    }
    return try replacing(replacements)
  }
}

extension Segment {
  /// The same segment after it was read into memory.
  fileprivate func read(_ bytes: [UInt8]) -> Segment {
    Segment(
      content: bytes.isEmpty ? .literal(0..<0) : .memory(MemoryBytes(bytes)),
      length: Int64(bytes.count), name: name)
  }
}

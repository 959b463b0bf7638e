extension BodyLayout {
  /// Where bytes of a body come from.
  package enum Source {
    /// Bytes that the layout has in memory.
    case bytes(UnsafeRawBufferPointer)
    /// A range of a file.
    case file(LocalPath, FileIdentity, offset: Int64, length: Int64)
  }

  /// Calls `use` with where the body's bytes come from, in order. Streams are left out.
  package func forEachSource(_ use: (Source) -> Void) {
    for segment in segments {
      switch segment.content {
      case .literal(let range):
        literals.withUnsafeBytes { use(.bytes(UnsafeRawBufferPointer(rebasing: $0[range]))) }
      case .memory(let memory):
        memory.withBytes { use(.bytes($0)) }
      case .file(let extent):
        use(.file(extent.path, extent.identity, offset: extent.offset, length: extent.length))
      case .stream: break
      }
    }
  }

  /// How many bytes of the body the layout has in memory.
  package var bytesInMemory: Int {
    segments.reduce(literals.count) { sum, segment in
      if case .memory(let memory) = segment.content { sum + memory.count } else { sum }
    }
  }

  /// The name of the file that is the body; nil if the body is a form or has another source.
  package var fileName: String? {
    guard form == nil, segments.count == 1, case .file(let extent) = segments[0].content else {
      return nil
    }
    return extent.path.lastComponent
  }
}

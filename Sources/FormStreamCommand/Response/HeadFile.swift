import FormStreamPlatform

/// The file of `-D`. It gets its name at the end, whatever became of the requests.
struct HeadFile {
  private let file: OutputFile
  private let hasFailed = Guarded(false)

  /// Nil if the heads are not written anywhere.
  init?(_ printing: PlannedPrinting) throws(Failure) {
    guard let target = printing.headTarget else { return nil }
    if let directory = printing.madeHeadDirectory { try make(directory) }
    file = try OutputFile(target, of: "-D")
  }

  /// - Parameter areWritten: whether the heads were written before the bodies, so that only the trailers are left.
  func add(
    _ heads: ReceivedHeads, areWritten: Bool, _ interruption: Interruption
  ) throws(Failure) {
    do throws(Failure) {
      let bytes = areWritten ? try heads.trailers() : try heads.all()
      if file.isNamedAtEnd {
        try file.write(bytes)
      } else {
        let message = "Nothing reads what -D names: the heads could not be written."
        try interruption.performBlocking(orElse: message) { [file] () throws(Failure) in
          try file.write(bytes)
        }
      }
    } catch {
      hasFailed.withLock { $0 = true }
      throw error
    }
  }

  func discard() { file.discard() }

  /// Gives the file its name. After a failure, the file gets no name, because some heads are missing.
  func commit() throws(Failure) {
    if hasFailed.withLock(\.self) {
      file.discard()
    } else {
      try file.commit()
    }
  }
}

extension ResultReport.Ending {
  /// Writes the heads of a request to the file of `-D`.
  ///
  /// - Parameter areWritten: whether the heads were written before the body.
  mutating func write(
    _ heads: ReceivedHeads, areWritten: Bool, to file: HeadFile?, _ interruption: Interruption
  ) {
    do throws(Failure) {
      try file?.add(heads, areWritten: areWritten, interruption)
    } catch {
      add(error)
    }
  }

  /// Gives the file of `-D` its name.
  mutating func complete(_ file: HeadFile?) {
    do throws(Failure) { try file?.commit() } catch { add(error) }
  }
}

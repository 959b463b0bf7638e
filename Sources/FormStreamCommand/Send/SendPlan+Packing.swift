import FormStreamBatch

extension SendingArguments {
  /// How many files a request carries.
  func packing() throws(Failure) -> Packing {
    let isLimited = filesPerRequest != nil || bytesPerRequest != nil
    if sendsTogether, isLimited {
      throw .usage(
        "--together sends all files in one request: leave out --per-request and --per-request-bytes."
      )
    }
    let packing: Packing =
      if sendsTogether {
        .together
      } else if isLimited {
        .upTo(
          files: filesPerRequest ?? Packing.maximumFiles,
          bytes: bytesPerRequest ?? .max)
      } else {
        .single
      }
    let flag = sendsTogether ? "--together" : "--per-request"
    if puts, packing.isShared {
      throw .usage("--put sends each file as it is, in a request of its own: leave out \(flag).")
    }
    if sliceSize != nil, packing.isShared {
      throw .usage("--slice sends a file in several requests: leave out \(flag).")
    }
    if puts, sliceSize != nil {
      throw .usage("--slice sends forms, and --put sends files as they are: leave one out.")
    }
    return packing
  }

  /// The values that may stand in text fields.
  func fieldValues(_ packing: Packing) -> [FileTemplate.Value] {
    packing.isShared ? [] : FileTemplate.Value.ofFile + sliceValues
  }

  /// The values that may stand in the name of a file.
  func filenameValues(_ packing: Packing) -> [FileTemplate.Value] {
    FileTemplate.Value.ofFile + fieldNameValues(packing)
  }

  /// The name of the file's field. It is literal unless a request has several files, or a slice.
  func fieldNameTemplate(_ packing: Packing) throws(Failure) -> FileTemplate {
    let name = fieldName ?? "file"
    let values = fieldNameValues(packing)
    guard !values.isEmpty else { return FileTemplate(literal: name) }
    return try Argument(name).template(for: "--as", of: values)
  }

  private func fieldNameValues(_ packing: Packing) -> [FileTemplate.Value] {
    packing.isShared ? [.place] : sliceValues
  }

  private var sliceValues: [FileTemplate.Value] {
    sliceSize == nil ? [] : FileTemplate.Value.ofSlice
  }

  /// The value of the response that is compared with each file; nil if no value is compared.
  func responseCheck(_ packing: Packing) throws(Failure) -> ResponseCheck? {
    guard let path = self.check else { return nil }
    guard let check = path.text.flatMap(ResponseCheck.init) else {
      throw .usage(
        "\(path.named("--verify")) is not a path of names and indices: write it like files[0].sha256."
      )
    }
    guard check.namesPlace || !packing.isShared else {
      throw .usage(
        "\(path.named("--verify")) is one value for several files: write {i} for the place of each, like files[{i}].sha256."
      )
    }
    return check
  }
}

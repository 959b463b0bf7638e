import FormStreamBatch
import FormStreamMultipart

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
    guard let check else { return nil }
    return ResponseCheck(of: try check.responsePath(for: "--verify", packing, likeThat: "sha256"))
  }

  /// Where the value is in the response that is written to the map; nil if there is no map.
  func mappedPath(_ packing: Packing) throws(Failure) -> ResponsePath? {
    switch (map, mappedValue) {
    case (nil, nil): return nil
    case (.some, nil):
      throw .usage(
        "--map needs the place of a value in the response: add --map-value PATH, like --map-value files[0].id.")
    case (nil, .some): throw .usage("--map-value needs a file for the values: add --map FILE.")
    case (.some, let path?):
      return try path.responsePath(for: "--map-value", packing, likeThat: "id")
    }
  }
}

extension Argument {
  /// The argument as a path in the response.
  ///
  /// - Parameter name: the last name of the path that messages give as an example.
  fileprivate func responsePath(
    for flag: String, _ packing: Packing, likeThat name: String
  ) throws(Failure) -> ResponsePath {
    guard let path = text.flatMap(ResponsePath.init) else {
      throw .usage(
        "\(named(flag)) is not a path of names and indices: write it like files[0].\(name).")
    }
    guard path.namesPlace || !packing.isShared else {
      throw .usage(
        "\(named(flag)) is one value for several files: write {i} for the place of each, like files[{i}].\(name)."
      )
    }
    return path
  }

  /// The argument as the path of a file that lines are added to.
  func appendedFile(of flag: String) throws(Failure) -> LocalPath {
    guard !isDash else {
      throw .usage(
        "\(flag) adds lines to a file, and - is standard output: name a file, or /dev/stdout.")
    }
    guard !bytes.isEmpty, !bytes.contains(0) else {
      throw .usage("\(flag) needs the name of a file.")
    }
    return path
  }
}

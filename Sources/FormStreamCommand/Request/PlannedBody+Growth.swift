import FormStreamMultipart

/// Files that may grow while they are sent.
extension PlannedForm {
  func growing(_ growth: FileGrowth) -> PlannedForm {
    guard growth != .refused else { return self }
    return PlannedForm(
      form: form.growing(growth), origins: origins, needsTypes: needsTypes, subject: subject)
  }
}

extension PlannedBody {
  func growing(_ growth: FileGrowth) -> PlannedBody {
    guard growth != .refused else { return self }
    switch self {
    case .none: return self
    case .form(let form): return .form(form.growing(growth))
    case .raw(let bytes): return .raw(bytes.growing(growth))
    }
  }
}

extension PlannedBytes {
  fileprivate func growing(_ growth: FileGrowth) -> PlannedBytes {
    PlannedBytes(
      body: body.growing(growth), type: type, filename: filename, origin: origin,
      uploadedFile: uploadedFile, subject: subject)
  }
}

extension FileRange {
  /// A range that says how many bytes it has is the same range of a file that has grown.
  var growth: FileGrowth { length == nil ? .refused : .allowed }
}

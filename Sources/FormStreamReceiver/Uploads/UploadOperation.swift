/// What a request wants of the resumable uploads.
enum UploadOperation {
  /// To know the limits.
  case announceLimits
  /// To begin an upload.
  case create(UploadFields)
  /// To begin an upload by tus.
  case createByTus
  /// To go on with an upload, to know its offset, or to end it; nil if the name can't be that of an upload.
  case use(UploadID?)

  /// Whether the request is a complete upload, which the client may take for an ordinary one.
  var isOrdinary: Bool { if case .create(let fields) = self { fields.isComplete == true } else { false } }

  /// Whether the request is to create an upload.
  var isCreation: Bool {
    switch self {
    case .create, .createByTus: true
    case .announceLimits, .use: false
    }
  }

  /// Nil if the request has nothing to do with resumable uploads.
  init?(_ head: RequestHead) {
    if head.path.utf8.starts(with: UploadID.prefix.utf8) {
      let name = head.path.utf8.dropFirst(UploadID.prefix.utf8.count)
      self = .use(UploadID(Substring(name)))
    } else if head.namesUpload {
      // The URL of an upload in another spelling, or below another path. A file must not get the secret as its name.
      self = .use(nil)
    } else if head.method == "OPTIONS" {
      self = .announceLimits
    } else if head.method == "POST", head.isTus {
      self = .createByTus
    } else {
      let fields = UploadFields(head)
      guard head.isUpload, fields.isComplete != nil, fields.isVersionKnown else { return nil }
      self = .create(fields)
    }
  }
}

import FormStreamDigest
package import FormStreamMediaTypes
package import FormStreamMultipart
package import FormStreamHTTP

/// How the files of a batch are sent.
package struct BatchSettings: Sendable {
  /// The request without its body.
  package var request: TransferRequest
  package var session: TransferSession.Configuration
  /// The form without the file, which comes last. Its boundary is used if it was given.
  package var form: Form
  package var isBoundaryGiven = false
  /// The name of the file's field.
  package var fieldName = FileTemplate(literal: "file")
  package var sniffer: MediaTypeSniffer
  /// Whether files are searched for the boundary.
  package var verifiesBoundary = false
  /// How many files a request brings.
  package var packing = Packing.single
  /// How many bytes of a file a request brings; nil for all.
  package var sliceSize: Int64?
  /// How many requests are sent at the same time.
  package var concurrency = 4
  /// How many requests begin in a second; any number if nil.
  package var requestRate: Double?
  package var retry = RetryPolicy(attempts: 3)
  /// Whether each file's digest is computed before it is sent.
  package var computesDigest = false
  /// The values of parts of the form, by their indices.
  package var fieldTemplates: [Int: FileTemplate] = [:]
  /// The file names; those of the paths if nil.
  package var filename: FileTemplate?
  /// If the files are sent as they are, without a form: their URLs.
  package var urls: URLTemplate?
  /// Compares what the server says with the file.
  package var check: ResponseCheck?
  /// The id of the manifest, or of the run if there is none.
  package var id = UUIDText.random()
  /// Whether there is a manifest of that id.
  package var hasManifest = false
  /// The names of settings in the records' messages. By default they are those of the library.
  package var settingName: @Sendable (any MessageSetting) -> String = { $0.description }
  /// Whether each request has an idempotency key: the same for the same files of a manifest, in each run.
  package var sendsIdempotencyKeys = false

  package init(
    request: TransferRequest, session: TransferSession.Configuration, form: Form,
    sniffer: MediaTypeSniffer
  ) {
    self.request = request
    self.session = session
    self.form = form
    self.sniffer = sniffer
  }

  /// Whether a file that is sent again by another run is stored once. With several files in a request, that may have
  /// other ones, and so another key. A redirect to another origin leaves the key out.
  package var isHarmlessInLaterRuns: Bool {
    request.method.isIdempotent
      || sendsIdempotencyKeys && !packing.isShared && !request.options.redirects.allowsOtherOrigins
  }

  /// Whether a digest of each file is needed.
  var needsDigest: Bool {
    computesDigest || check != nil || filename?.needsDigest ?? false || urls?.needsDigest ?? false
      || fieldTemplates.values.contains(where: \.needsDigest)
  }
}

import FormStreamDigest
package import FormStreamMediaTypes
package import FormStreamMultipart
package import FormStreamHTTP

/// How the files of a batch are sent.
package struct BatchSettings: Sendable {
  /// The request without its body.
  package var request: TransferRequest
  package var session: TransferSession.Configuration
  /// The form without the file. The file's part comes last. The form's boundary is used if ``isBoundaryGiven`` is true.
  package var form: Form
  package var isBoundaryGiven = false
  /// The name of the file's field.
  package var fieldName = FileTemplate(literal: "file")
  package var sniffer: MediaTypeSniffer
  /// Whether files are searched for the boundary.
  package var verifiesBoundary = false
  /// How many files a request has.
  package var packing = Packing.single
  /// The size of slices, if each request has one slice of a file; nil if each file is sent in one piece.
  package var sliceSize: Int64?
  /// How many requests are sent at the same time.
  package var concurrency = 4
  /// How many files may be open besides those that are being sent.
  package var spareDescriptors = 256
  /// How many requests may begin in a second; nil for no limit.
  package var requestRate: Double?
  package var retry = RetryPolicy(attempts: 3)
  /// After how many files that were not accepted the run is ended; nil for no limit.
  package var maximumFailures: Int?
  /// Whether the server is known to grant access: some of the files may be refused with 401 or 403 one by one, and that does
  /// not end the run.
  package var hasAccess = false
  /// Whether each file's digest is computed before it is sent.
  package var computesDigest = false
  /// The values of some parts of the form, by the indices of the parts.
  package var fieldTemplates: [Int: FileTemplate] = [:]
  /// The file names in the form; nil for the last component of each path.
  package var filename: FileTemplate?
  /// The URLs of the files, if the files are sent without a form; nil if they are sent in forms.
  package var urls: URLTemplate?
  /// Compares the server's statement about a file with the file.
  package var check: ResponseCheck?
  /// Where the value is in the response that is kept of each file; nil if none is.
  package var keptValue: ResponsePath?
  /// The id of the manifest, or of the run if there is no manifest.
  package var id = UUIDText.random()
  /// Whether ``id`` is the id of a manifest.
  package var hasManifest = false
  /// The names of settings in the messages of records. By default, they are the library's names.
  package var settingName: @Sendable (any MessageSetting) -> String = { $0.description }
  /// Whether each request has an idempotency key. The same files of a manifest have the same key in each run.
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

  /// Whether the server stores a file only once if another run sends it again. Idempotency keys don't ensure this for
  /// requests with several files: another run may combine the files differently, and then the keys differ. They don't
  /// ensure it after a redirect to another origin either, because such a redirect drops the key.
  package var isHarmlessInLaterRuns: Bool {
    request.method.isIdempotent
      || sendsIdempotencyKeys && !packing.isShared && !request.options.redirects.allowsOtherOrigins
  }

  /// How many requests wait at the same time until they are repeated, while others are sent. Unless a request has several files,
  /// the file of each stays open.
  package var maximumSetAside: Int {
    packing.isShared ? concurrency : min(32 + 8 * concurrency, spareDescriptors)
  }

  /// How many bytes of a response are kept.
  func maximumResponse(files: Int) -> Int {
    check == nil && keptValue == nil ? 4096 : JSONResponse.maximumBytes(files: files)
  }

  /// Whether a digest of each file is needed.
  var needsDigest: Bool {
    computesDigest || check != nil || filename?.needsDigest ?? false || urls?.needsDigest ?? false
      || fieldTemplates.values.contains(where: \.needsDigest)
  }
}

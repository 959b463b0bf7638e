package import FormStreamMultipart
package import FormStreamJSON
import FormStreamHTTP

/// The first line of a journal: what the journal is about.
package struct JournalHead: Hashable, Sendable {
  package static let schema = "formstream.journal/1"

  /// The id of the manifest.
  package var manifest: String
  /// A UUID that names the run. Two journals of one run are copies. Nil in journals of earlier builds.
  package var run: String?
  /// The shard, such as `3/64`; nil if the run sends the complete manifest.
  package var shard: String?
  /// The URL that the run sends to, without secrets.
  package var url: String
  /// The identifier of the machine's boot in which the run began. Lines that were written but not synchronized are lost
  /// only if the machine restarts.
  package var boot: String
  /// Whether a file that is sent twice is stored once, because the run uses PUT or idempotency keys.
  package var isHarmlessTwice: Bool
  /// The size of the slices in which files are sent; nil if each file is sent in one piece.
  package var sliceSize: Int64?
  /// When the run began, in nanoseconds since 1970; nil if that is not known.
  package var begun: Int64?
  /// The id of the manifest whose failed files the manifest lists; nil if it is no such list.
  package var parent: String?
  /// The absolute path of a manifest that was named; nil for the manifest beside the journal.
  package var manifestPath: LocalPath?
  /// The size of the manifest, which must never change; nil if the manifest is still being written.
  package var manifestBytes: Int64?
  /// An identifier of the URL template for files that are sent by PUT, or of a secret URL for forms. It shows whether two
  /// runs have the same URL, because ``url`` has only the origin of a secret URL. Nil if forms are sent to a URL that is
  /// not secret.
  package var template: String?
  /// Whether the line can't be read, so that the head has only what the journal's name and its other lines say. Then nothing else is
  /// known about the run, such as its slices or when it began. ``url`` is that of one file: it is the URL of all files if the run
  /// sent forms.
  package private(set) var isReconstructed = false

  package init(
    manifest: String, shard: String?, url: String, boot: String, isHarmlessTwice: Bool = false,
    sliceSize: Int64? = nil, manifestBytes: Int64? = nil, template: String? = nil,
    manifestPath: LocalPath? = nil, parent: String? = nil, begun: Int64? = nil,
    run: String? = nil
  ) {
    (self.manifest, self.run) = (manifest, run)
    (self.manifestPath, self.parent, self.begun) = (manifestPath, parent, begun)
    self.manifestBytes = manifestBytes
    self.template = template
    self.shard = shard
    self.url = url
    self.boot = boot
    self.isHarmlessTwice = isHarmlessTwice
    self.sliceSize = sliceSize
  }

  /// Reads the line; nil if it is not the first line of a journal.
  package init?(_ line: JSONValue) {
    guard line["schema"]?.text == Self.schema, let manifest = line["manifest"]?.text,
      let url = line["url"]?.text, let boot = line["boot"]?.text
    else { return nil }
    self.init(
      manifest: manifest, shard: line["shard"]?.text, url: url, boot: boot,
      isHarmlessTwice: line["harmless_twice"] == true, sliceSize: line["slice_size"]?.integer,
      manifestBytes: line["manifest_bytes"]?.integer, template: line["template"]?.text,
      manifestPath: (try? line.path("manifest_path")) ?? nil,
      parent: line["parent"]?.text, begun: line["begun_ns"]?.integer, run: line["run"]?.text)
  }

  /// Reconstructs what was in the first line.
  ///
  /// - Parameters:
  ///   - name: the name of the journal, with the shard and the run in it.
  ///   - manifest: the id of the manifest, which the records of the files repeat.
  ///   - url: the URL of a file, by its record.
  init(named name: JournalWriter.Name, manifest: String, url: String) {
    // In doubt, a file that is sent twice is stored twice, and lines may be lost.
    self.init(manifest: manifest, shard: name.shard, url: url, boot: "", run: name.run)
    isReconstructed = true
  }

  package var json: JSONValue {
    let path = JSONValue.path(manifestPath)
    return [
      "schema": .string(Self.schema), "manifest": .string(manifest),
      "manifest_path": path.text, "manifest_path_b64": path.base64,
      "parent": .string(orNull: parent), "begun_ns": .integer(orNull: begun),
      "manifest_bytes": .integer(orNull: manifestBytes), "shard": .string(orNull: shard),
      "url": .string(url), "boot": .string(boot),
      "harmless_twice": .boolean(isHarmlessTwice), "slice_size": .integer(orNull: sliceSize),
      "template": .string(orNull: template), "run": .string(orNull: run),
    ]
  }
}

/// How much of a file the server has accepted, in slices.
package struct AcceptedSlices: Hashable, Sendable {
  /// The number of bytes in all slices that were accepted. These are always the first slices of the file.
  var bytes: Int64
  /// When the file or its attributes were last changed, in nanoseconds since 1970. If the file was changed after that, the
  /// slices are not continued.
  var changed: Int64
}

/// The short lines of a journal. The other lines are records of results; see `FileResult+Record.swift`.
enum JournalMark {
  static let startedSchema = "formstream.started/1"
  static let storedPerhapsSchema = "formstream.stored-perhaps/1"
  static let slicesSchema = "formstream.slices/1"
  static let unfinishedSchema = "formstream.unfinished/1"
  static let closedSchema = "formstream.closed/1"

  /// A request begins for the file whose record begins at that offset.
  static func started(_ offset: Int64) -> JSONValue {
    ["schema": .string(startedSchema), "offset": .integer(offset)]
  }

  /// The server may have the file, although its record says that it may be sent again.
  static func storedPerhaps(_ offset: Int64) -> JSONValue {
    ["schema": .string(storedPerhapsSchema), "offset": .integer(offset)]
  }

  /// The first slices of the file are accepted, and more slices follow.
  static func accepted(_ offset: Int64, _ slices: AcceptedSlices) -> JSONValue {
    [
      "schema": .string(slicesSchema), "offset": .integer(offset),
      "accepted": .integer(slices.bytes), "ctime_ns": .integer(slices.changed),
    ]
  }

  /// The server keeps what has arrived of the file.
  ///
  /// - Parameter upload: nil if the upload can't be continued any more.
  static func unfinished(_ offset: Int64, _ upload: UploadResumeData?) -> JSONValue {
    [
      "schema": .string(unfinishedSchema), "offset": .integer(offset),
      "upload": upload?.json ?? .null,
    ]
  }

  /// The run ended in an orderly way, so no line is missing.
  ///
  /// - Parameter isComplete: whether the run has gone through all files. The next run of the same listing is a new round.
  static func closed(isComplete: Bool) -> JSONValue {
    isComplete
      ? ["schema": .string(closedSchema), "complete": true] : ["schema": .string(closedSchema)]
  }
}

extension JournalHead {
  /// The identifier of this machine's current boot; empty if it is not known.
  package static var currentBoot: String { bootID() ?? "" }
}

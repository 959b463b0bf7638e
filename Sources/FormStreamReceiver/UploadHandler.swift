public import FormStreamIntake

/// What is done with what comes in: ``DirectoryHandler`` stores it, ``DiscardHandler`` only counts.
///
/// A receiver asks it from many threads at once, one a connection, whose stack is half a megabyte. What it does may
/// take its time: the client waits, and nobody else. But it must come to an end, or stopping the receiver does not.
public protocol UploadHandler: Sendable {
  /// A request wants to upload something. Nothing of its body has been read.
  ///
  /// - Throws: ``UploadRefusal`` to answer with a status of its own; anything else is answered with 500.
  func begin(_ request: UploadRequest) throws -> any Upload
}

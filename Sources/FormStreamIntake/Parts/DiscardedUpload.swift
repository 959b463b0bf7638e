/// An upload that keeps nothing.
package final class DiscardedUpload: Upload, PartSink {
  package init() {}

  package func begin(_ part: PartDescription) -> any PartSink { self }
  package func write(_ bytes: UnsafeRawBufferPointer) {}
  package func end(_ parts: [ReceivedPart]) {}
  package func end() {}
}

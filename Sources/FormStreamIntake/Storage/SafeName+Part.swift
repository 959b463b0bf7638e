package import FormStreamMultipart
package import FormStreamPlatform

extension SafeName {
  /// The name for a part: its file name if usable, else its field's name, else "file".
  package init(filename: String?, field: String?) {
    self.init(firstUsable: [filename, field], orElse: "file")
  }

  /// The name with a number if that is above 1: `photo.jpg`, `photo-2.jpg`.
  package func numbered(_ number: Int) -> LocalPath {
    LocalPath(bytes: fileName.numbered(number).bytes)
  }
}

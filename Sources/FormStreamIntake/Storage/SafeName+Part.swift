package import FormStreamMultipart
package import FormStreamPlatform

extension SafeName {
  /// The name for a part: its file name if usable, else its field's name, else "file".
  package init(filename: String?, field: String?) {
    self.init(firstUsable: [filename, field], orElse: "file")
  }

  /// The name; if the number is above 1, with the number in it: `photo.jpg`, `photo-2.jpg`.
  package func numbered(_ number: Int) -> LocalPath {
    LocalPath(bytes: fileName.numbered(number).bytes)
  }
}

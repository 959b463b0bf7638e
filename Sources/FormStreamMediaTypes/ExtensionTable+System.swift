public import FormStreamMultipart

extension ExtensionTable {
  /// The built-in table, followed by `/etc/mime.types` if it exists. The file is read only if the
  /// built-in table isn't enough.
  public static let system = builtIn.adding(ExtensionTable { systemText })

  private static let systemText =
    (try? head(of: "/etc/mime.types", limit: 4 * 1024 * 1024)) ?? []
}

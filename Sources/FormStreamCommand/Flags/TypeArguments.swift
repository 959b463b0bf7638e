import FormStreamMediaTypes

/// The arguments about media types.
struct TypeArguments {
  var policy = SniffingPolicy.auto
  var overrides: [TypeOverride] = []
  var magicFile: Argument?
  var detectsCharset = false
  /// Whether a flag about types was typed.
  var areGiven = false
}

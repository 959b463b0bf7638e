/// Exports `SystemError`, which errors of this module contain, and `SHA256Digest`. `FormStreamPlatform` has no other
/// public types.
@_exported public import FormStreamPlatform

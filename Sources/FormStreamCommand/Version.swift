/// The version of the command and of its libraries, which are released together. CHANGELOG.md's newest heading names
/// the same version; a test compares them.
let version = "0.1.0"

/// The version of the command and of its libraries, which are released together.
let version = "0.1.0"

// swift-tools-version: 6.2
import PackageDescription

// A separate package, as yours would be. Yours names the repository's URL instead of the path.
let package = Package(
  name: "FormStreamSamples",
  dependencies: [.package(name: "FormStream", path: "..")],
  targets: [
    .executableTarget(
      name: "encode-only",
      dependencies: [.product(name: "FormStreamMultipart", package: "FormStream")]),
    .executableTarget(
      name: "stream-upload", dependencies: [.product(name: "FormStream", package: "FormStream")]),
    .executableTarget(
      name: "post-form",
      dependencies: [
        .product(name: "FormStream", package: "FormStream"),
        .product(name: "FormStreamTransfer", package: "FormStream"),
      ]),
    .executableTarget(
      name: "receive-form",
      dependencies: [.product(name: "FormStreamReceiver", package: "FormStream")]),
    // README's examples.
    .executableTarget(
      name: "five-lines",
      dependencies: [.product(name: "FormStreamTransfer", package: "FormStream")]),
    .executableTarget(
      name: "first-upload",
      dependencies: [.product(name: "FormStreamTransfer", package: "FormStream")]),
    // The tests of docs/test-your-code.md.
    .testTarget(
      name: "test-your-code",
      dependencies: [.product(name: "FormStreamTransfer", package: "FormStream")],
      path: "Sources/test-your-code"),
    .executableTarget(
      name: "send-tree",
      dependencies: [.product(name: "FormStreamBatch", package: "FormStream")]),
    .executableTarget(
      name: "measure-memory",
      dependencies: [.product(name: "FormStreamTransfer", package: "FormStream")]),
    // The program of docs/post-from-swift.md.
    .executableTarget(
      name: "post-from-swift",
      dependencies: [.product(name: "FormStreamTransfer", package: "FormStream")]),
    // The examples of docs/library.md, and of the articles in Sources.
    .target(
      name: "library-guide",
      dependencies: [
        .product(name: "FormStream", package: "FormStream"),
        .product(name: "FormStreamBatch", package: "FormStream"),
        .product(name: "FormStreamMediaTypes", package: "FormStream"),
        .product(name: "FormStreamReceiver", package: "FormStream"),
        .product(name: "FormStreamTransfer", package: "FormStream"),
        .product(name: "FormStreamURLSession", package: "FormStream"),
      ]),
    // The examples of docs/ten-tasks.md.
    .target(
      name: "ten-tasks",
      dependencies: [
        .product(name: "FormStream", package: "FormStream"),
        .product(name: "FormStreamTransfer", package: "FormStream"),
      ]),
    .executableTarget(
      name: "read-form", dependencies: [.product(name: "FormStream", package: "FormStream")]),
  ]
)

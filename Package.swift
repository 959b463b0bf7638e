// swift-tools-version: 6.2
import PackageDescription

/// One list for every target: what this house asks of all its Swift.
let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "FormStream",
  products: [
    .library(name: "Multipart", targets: ["Multipart"]),
    .library(name: "FormStream", targets: ["FormStream"]),
    .library(name: "FormStreamURLSession", targets: ["FormStreamURLSession"]),
    .library(name: "MediaTypes", targets: ["MediaTypes"]),
    .library(name: "Transfer", targets: ["Transfer"]),
    .library(name: "Receiver", targets: ["Receiver"]),
    .executable(name: "formstream", targets: ["formstream"]),
  ],
  targets: [
    .target(name: "Multipart", swiftSettings: house),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .target(name: "Records", dependencies: ["Multipart", "CCrypto"], swiftSettings: house),
    .systemLibrary(name: "CMagic", pkgConfig: "libmagic", providers: [.apt(["libmagic-dev"])]),
    .target(name: "MediaTypes", dependencies: ["Multipart", "CMagic"], swiftSettings: house),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .target(
      name: "Transfer", dependencies: ["FormStream", "Records", "CCurl"], swiftSettings: house),
    .systemLibrary(
      name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"])]),
    .target(
      name: "Receiver", dependencies: ["CMicroHTTPD", "Multipart", "Records", "Storage"],
      swiftSettings: house),
    .target(name: "Storage", dependencies: ["Multipart"], swiftSettings: house),
    .target(name: "FormStream", dependencies: ["Multipart"], swiftSettings: house),
    .target(name: "FormStreamURLSession", dependencies: ["FormStream"], swiftSettings: house),
    .target(
      name: "FormStreamCommand",
      dependencies: ["MediaTypes", "Multipart", "Receiver", "Records", "Storage", "Transfer"],
      swiftSettings: house),
    .executableTarget(
      name: "formstream", dependencies: ["FormStreamCommand"], swiftSettings: house),

    .target(
      name: "TestSupport", dependencies: ["FormStream"], path: "Tests/TestSupport",
      exclude: ["tls-front.py"], swiftSettings: house),
    .target(
      name: "FuzzProperties", dependencies: ["Multipart", "TestSupport"], path: "Fuzz/Properties",
      swiftSettings: house),
    .executableTarget(
      name: "drain-probe", dependencies: ["FormStream"], path: "Tests/DrainProbe",
      swiftSettings: house),
    .executableTarget(
      name: "digest-probe", dependencies: ["Records"], path: "Tests/DigestProbe",
      swiftSettings: house),
    .executableTarget(
      name: "cancel-probe", dependencies: ["FormStream", "TestSupport", "Transfer"],
      path: "Tests/CancelProbe", swiftSettings: house),
    .testTarget(
      name: "MultipartTests", dependencies: ["Multipart", "TestSupport", "FuzzProperties"],
      swiftSettings: house),
    .testTarget(
      name: "RecordsTests", dependencies: ["Multipart", "Records", "TestSupport", "digest-probe"],
      swiftSettings: house),
    .testTarget(
      name: "MediaTypesTests", dependencies: ["MediaTypes", "Multipart", "TestSupport"],
      exclude: ["make-kinds.py"],
      swiftSettings: house),
    .testTarget(
      name: "StorageTests", dependencies: ["Multipart", "Storage", "TestSupport"],
      swiftSettings: house),
    .testTarget(
      name: "FormStreamTests", dependencies: ["FormStream", "TestSupport", "drain-probe"],
      swiftSettings: house),
    .testTarget(
      name: "FormStreamURLSessionTests", dependencies: ["FormStreamURLSession", "TestSupport"],
      swiftSettings: house),
    .testTarget(
      name: "TransferTests",
      dependencies: ["FormStream", "Records", "TestSupport", "Transfer", "cancel-probe"],
      swiftSettings: house),
    .testTarget(
      name: "ReceiverTests",
      dependencies: ["FormStream", "Multipart", "Receiver", "Records", "TestSupport", "Transfer"],
      swiftSettings: house),
    .testTarget(
      name: "FormStreamCommandTests",
      dependencies: ["FormStreamCommand", "Records", "TestSupport", "Transfer"],
      swiftSettings: house),
    .testTarget(
      name: "CommandTests", dependencies: ["Multipart", "TestSupport", "formstream"],
      swiftSettings: house),
  ]
)

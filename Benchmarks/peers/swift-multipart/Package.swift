// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The directory with the checkouts of the other libraries.
let checkouts = Context.environment["SWIFT_PEERS"] ?? "checkouts"

// A separate package, so that the other benchmarks build without the checkouts.
let package = Package(
  name: "SwiftMultipart",
  dependencies: [
    .package(name: "FormStream", path: "../../.."),
    .package(path: "\(checkouts)/multipart-kit"),
    .package(path: "\(checkouts)/swift-http-types"),
    .package(path: "\(checkouts)/swift-openapi-runtime"),
    // The others need these. A path here replaces a URL in their manifests, so nothing is downloaded.
    .package(path: "\(checkouts)/swift-algorithms"),
    .package(path: "\(checkouts)/swift-collections"),
    .package(path: "\(checkouts)/swift-numerics"),
  ],
  targets: [
    .executableTarget(
      name: "swift-multipart",
      dependencies: [
        .product(name: "FormStreamMultipart", package: "FormStream"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "MultipartKit", package: "multipart-kit"),
        .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
      ],
      swiftSettings: house)
  ]
)

// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// A separate package, so that the benchmarks use only the public API.
let package = Package(
  name: "FormStreamBenchmarks",
  dependencies: [.package(name: "FormStream", path: "..")],
  targets: [
    .target(name: "Measuring", swiftSettings: house),
    .executableTarget(
      name: "bench-blocking",
      dependencies: [
        "Measuring",
        .product(name: "FormStreamMultipart", package: "FormStream"),
        .product(name: "FormStreamTransfer", package: "FormStream"),
      ],
      swiftSettings: house),
    .executableTarget(
      name: "bench-body",
      dependencies: [
        "Measuring",
        .product(name: "FormStream", package: "FormStream"),
        .product(name: "FormStreamMultipart", package: "FormStream"),
      ],
      swiftSettings: house),
    .executableTarget(
      name: "bench-parse",
      dependencies: ["Measuring", .product(name: "FormStreamMultipart", package: "FormStream")],
      swiftSettings: house),
    .executableTarget(
      name: "bench-requests",
      dependencies: [
        "Measuring",
        .product(name: "FormStream", package: "FormStream"),
        .product(name: "FormStreamTransfer", package: "FormStream"),
      ],
      swiftSettings: house),
  ]
)

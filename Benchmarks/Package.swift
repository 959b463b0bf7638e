// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the benchmarks live on what the library gives to everybody.
let package = Package(
  name: "FormStreamBenchmarks",
  dependencies: [.package(name: "FormStream", path: "..")],
  targets: [
    .executableTarget(
      name: "bench-body",
      dependencies: [
        .product(name: "FormStream", package: "FormStream"),
        .product(name: "Multipart", package: "FormStream"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)

// swift-tools-version: 6.2
import PackageDescription

/// One list for every target: what this house asks of all its Swift.
let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// A library that each user installs: the products named `FormStream…`.
func product(_ name: String) -> Product { .library(name: name, targets: [name]) }

/// A module of `Sources`. Every target's name begins with the package's: SwiftPM refuses two targets of one name
/// among all packages of a build, internal ones too.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: house)
}

/// A C library, with the Debian package that it comes from.
func library(_ name: String, _ pkgConfig: String, apt: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// A program that tests watch from outside.
func probe(_ name: String, _ dependencies: [Target.Dependency], path: String) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Tests/Probes/\(path)", swiftSettings: house)
}

func tests(
  of module: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .testTarget(
    name: "\(module)Tests", dependencies: dependencies + ["FormStreamTestSupport"],
    exclude: exclude, swiftSettings: house)
}

let package = Package(
  name: "FormStream",
  products: [
    product("FormStreamMultipart"),
    product("FormStream"),
    product("FormStreamURLSession"),
    product("FormStreamMediaTypes"),
    product("FormStreamTransfer"),
    product("FormStreamReceiver"),
    .executable(name: "formstream", targets: ["formstream"]),
  ],
  targets: [
    library("CFormStreamCrypto", "libcrypto", apt: "libssl-dev"),
    library("CFormStreamCurl", "libcurl", apt: "libcurl4-openssl-dev"),
    library("CFormStreamMagic", "libmagic", apt: "libmagic-dev"),
    library("CFormStreamMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev"),

    module("FormStreamPlatform"),
    module("FormStreamDigest", ["CFormStreamCrypto", "FormStreamPlatform"]),
    module("FormStreamMultipart", ["FormStreamPlatform"]),
    module("FormStream", ["FormStreamMultipart", "FormStreamPlatform"]),
    module("FormStreamURLSession", ["FormStream", "FormStreamPlatform"]),
    module(
      "FormStreamMediaTypes", ["CFormStreamMagic", "FormStreamMultipart", "FormStreamPlatform"]),
    module("FormStreamRecords", ["FormStreamDigest", "FormStreamMultipart", "FormStreamPlatform"]),
    module(
      "FormStreamTransfer",
      ["CFormStreamCurl", "FormStream", "FormStreamDigest", "FormStreamPlatform"]),
    module(
      "FormStreamIntake",
      ["FormStreamDigest", "FormStreamMultipart", "FormStreamPlatform", "FormStreamRecords"]),
    module(
      "FormStreamReceiver",
      [
        "CFormStreamMicroHTTPD", "FormStreamIntake", "FormStreamMultipart", "FormStreamPlatform",
        "FormStreamRecords",
      ]),
    module(
      "FormStreamCommand",
      [
        "FormStreamDigest", "FormStreamIntake", "FormStreamMediaTypes", "FormStreamMultipart",
        "FormStreamPlatform", "FormStreamReceiver", "FormStreamRecords", "FormStreamTransfer",
      ]),
    .executableTarget(
      name: "formstream", dependencies: ["FormStreamCommand"], swiftSettings: house),

    .target(
      name: "FormStreamTestSupport", dependencies: ["FormStream", "FormStreamPlatform"],
      path: "Tests/FormStreamTestSupport", exclude: ["tls-proxy.py"], swiftSettings: house),
    .target(
      name: "FormStreamFuzzProperties",
      dependencies: ["FormStreamMultipart", "FormStreamTestSupport"], path: "Fuzz/Properties",
      swiftSettings: house),
    probe("formstream-drain-probe", ["FormStream"], path: "Drain"),
    probe("formstream-digest-probe", ["FormStreamDigest"], path: "Digest"),
    probe(
      "formstream-cancel-probe", ["FormStream", "FormStreamTestSupport", "FormStreamTransfer"],
      path: "Cancel"),

    tests(of: "FormStreamPlatform", ["FormStreamPlatform"]),
    tests(of: "FormStreamDigest", ["FormStreamDigest", "formstream-digest-probe"]),
    tests(of: "FormStreamMultipart", ["FormStreamMultipart", "FormStreamFuzzProperties"]),
    tests(
      of: "FormStreamRecords", ["FormStreamDigest", "FormStreamMultipart", "FormStreamRecords"]),
    tests(
      of: "FormStreamMediaTypes", ["FormStreamMediaTypes", "FormStreamMultipart"],
      exclude: ["make-kinds.py"]),
    tests(
      of: "FormStreamIntake", ["FormStreamIntake", "FormStreamMultipart", "FormStreamPlatform"]),
    tests(of: "FormStream", ["FormStream", "formstream-drain-probe"]),
    tests(of: "FormStreamURLSession", ["FormStreamURLSession"]),
    tests(
      of: "FormStreamTransfer", ["FormStream", "FormStreamTransfer", "formstream-cancel-probe"]),
    tests(
      of: "FormStreamReceiver",
      [
        "FormStream", "FormStreamIntake", "FormStreamMultipart", "FormStreamReceiver",
        "FormStreamRecords", "FormStreamTransfer",
      ]),
    tests(of: "FormStreamCommand", ["FormStreamCommand", "FormStreamTransfer"]),
    // The command as people run it: the built program in a fresh directory.
    tests(of: "FormStreamCommandLine", ["FormStreamMultipart", "formstream"]),
  ]
)

// swift-tools-version: 6.2
import PackageDescription

/// The compiler settings of each target. `.ci/flags` reads this list for programs that call swiftc themselves, and
/// compares it with the other manifests of this repository.
let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The modules that the tests keep busy: without the optimizer, their tests take four times as long. Only `.ci/swift` asks for it,
/// because SwiftPM refuses a package with such flags as a dependency.
let busyModules: Set<String> =
  Context.environment["OPTIMIZE_BUSY_MODULES"] == nil
  ? [] : ["FormStreamMultipart", "FormStreamPlatform", "FormStreamTestSupport", "FormStreamWire"]

/// The compiler settings of a module.
func settings(of name: String) -> [SwiftSetting] {
  house + (busyModules.contains(name) ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
}

/// A library product: a module that users import.
func product(_ name: String) -> Product { .library(name: name, targets: [name]) }

/// A module of `Sources`. Its name begins with the package's name, because SwiftPM refuses two targets of one name
/// among all packages of a build, internal targets included.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings(of: name))
}

/// A C library and the Debian package that has it.
func library(_ name: String, _ pkgConfig: String, apt: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// A program that tests observe from outside.
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
    product("FormStreamHTTP"),
    product("FormStreamTransfer"),
    product("FormStreamBatch"),
    product("FormStreamReceiver"),
    .executable(name: "formstream", targets: ["formstream"]),
  ],
  targets: [
    library("CFormStreamCrypto", "libcrypto", apt: "libssl-dev"),
    library("CFormStreamCurl", "libcurl", apt: "libcurl4-openssl-dev"),
    library("CFormStreamMagic", "libmagic", apt: "libmagic-dev"),
    library("CFormStreamMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev"),
    library("CFormStreamSSL", "libssl", apt: "libssl-dev"),
    library("CFormStreamZlib", "zlib", apt: "zlib1g-dev"),
    // The C library itself.
    .systemLibrary(name: "CFormStreamSystem"),

    module("FormStreamPlatform"),
    module("FormStreamDigest", ["CFormStreamCrypto", "FormStreamPlatform"]),
    module("FormStreamMultipart", ["CFormStreamSystem", "FormStreamPlatform"]),
    module("FormStreamWire", ["FormStreamMultipart", "FormStreamPlatform"]),
    module("FormStream", ["FormStreamMultipart", "FormStreamPlatform"]),
    module("FormStreamURLSession", ["FormStream", "FormStreamPlatform"]),
    module(
      "FormStreamMediaTypes", ["CFormStreamMagic", "FormStreamMultipart", "FormStreamPlatform"]),
    module("FormStreamJSON", ["FormStreamPlatform"]),
    module("FormStreamNet", ["CFormStreamSystem", "FormStreamPlatform"]),
    module(
      "FormStreamHTTP",
      [
        "CFormStreamCurl", "CFormStreamSSL", "CFormStreamZlib", "FormStreamDigest",
        "FormStreamJSON", "FormStreamMultipart", "FormStreamNet", "FormStreamPlatform", "FormStreamWire",
      ]),
    module("FormStreamTransfer", ["FormStream", "FormStreamHTTP", "FormStreamPlatform"]),
    module(
      "FormStreamBatch",
      [
        "FormStreamDigest", "FormStreamHTTP", "FormStreamJSON", "FormStreamMediaTypes",
        "FormStreamMultipart", "FormStreamPlatform",
      ]),
    module(
      "FormStreamIntake",
      ["FormStreamDigest", "FormStreamJSON", "FormStreamMultipart", "FormStreamPlatform"]),
    module(
      "FormStreamReceiver",
      [
        "CFormStreamMicroHTTPD", "FormStreamDigest", "FormStreamIntake", "FormStreamJSON",
        "FormStreamMultipart", "FormStreamPlatform",
      ],
      // Files that the program contains: a copied resource would have to be installed beside it.
      resources: [
        .embedInCode("Page/frame.html"), .embedInCode("Page/upload.html"),
        .embedInCode("Page/folder.html"),
        .embedInCode("Page/page.css"), .embedInCode("Page/upload.js"),
        .embedInCode("Page/resumable.js"), .embedInCode("Page/kept.js"),
      ]),
    module(
      "FormStreamCommand",
      [
        "CFormStreamSystem", "FormStreamBatch", "FormStreamDigest", "FormStreamHTTP",
        "FormStreamIntake", "FormStreamJSON", "FormStreamMediaTypes", "FormStreamMultipart",
        "FormStreamPlatform", "FormStreamReceiver",
      ]),
    .executableTarget(
      name: "formstream", dependencies: ["FormStreamCommand"], swiftSettings: house),

    .target(
      name: "FormStreamTestSupport", dependencies: ["FormStream", "FormStreamPlatform", "FormStreamWire"],
      path: "Tests/FormStreamTestSupport", exclude: ["blocking-files.py", "tls-proxy.py"],
      swiftSettings: settings(of: "FormStreamTestSupport")),
    .target(
      name: "FormStreamFuzzProperties",
      dependencies: ["FormStreamMultipart", "FormStreamTestSupport", "FormStreamWire"], path: "Fuzz/Properties",
      swiftSettings: house),
    probe("formstream-drain-probe", ["FormStream"], path: "Drain"),
    probe("formstream-digest-probe", ["FormStreamDigest"], path: "Digest"),
    probe(
      "formstream-parse-probe", ["FormStreamIntake", "FormStreamMultipart"],
      path: "Parse"),
    probe(
      "formstream-cancel-probe", ["FormStream", "FormStreamTestSupport", "FormStreamTransfer"],
      path: "Cancel"),
    probe("formstream-download-probe", ["FormStreamTransfer"], path: "Download"),
    probe("formstream-peers-probe", ["FormStream", "FormStreamTransfer"], path: "Peers"),
    probe(
      "formstream-extremes-probe",
      [
        "FormStream", "FormStreamMediaTypes", "FormStreamReceiver", "FormStreamTransfer",
        "FormStreamURLSession",
      ],
      path: "Extremes"),

    probe("formstream-loop-probe", ["FormStreamNet"], path: "Loop"),

    tests(of: "FormStreamPlatform", ["FormStreamPlatform"]),
    tests(of: "FormStreamNet", ["FormStreamNet", "FormStreamPlatform", "formstream-loop-probe"]),
    tests(of: "FormStreamDigest", ["FormStreamDigest", "formstream-digest-probe"]),
    tests(of: "FormStreamMultipart", ["FormStreamMultipart", "FormStreamFuzzProperties"]),
    tests(of: "FormStreamWire", ["FormStreamMultipart", "FormStreamWire"]),
    tests(of: "FormStreamJSON", ["FormStreamJSON"]),
    tests(
      of: "FormStreamMediaTypes", ["FormStreamMediaTypes", "FormStreamMultipart"],
      exclude: ["make-kinds.py"]),
    tests(
      of: "FormStreamIntake",
      [
        "FormStreamDigest", "FormStreamIntake", "FormStreamJSON", "FormStreamMultipart",
        "FormStreamPlatform",
      ]),
    tests(of: "FormStream", ["FormStream", "formstream-drain-probe"]),
    tests(of: "FormStreamURLSession", ["FormStreamURLSession"]),
    tests(
      of: "FormStreamTransfer",
      [
        "FormStream", "FormStreamHTTP", "FormStreamJSON", "FormStreamTransfer",
        "formstream-cancel-probe", "formstream-download-probe",
      ]),
    tests(
      of: "FormStreamBatch",
      [
        "FormStreamBatch", "FormStreamJSON", "FormStreamMediaTypes", "FormStreamMultipart",
        "FormStreamHTTP", "FormStreamPlatform",
      ]),
    tests(
      of: "FormStreamReceiver",
      [
        "FormStream", "FormStreamDigest", "FormStreamIntake", "FormStreamMultipart",
        "FormStreamPlatform", "FormStreamReceiver", "FormStreamTransfer",
      ]),
    tests(of: "FormStreamCommand", ["FormStreamBatch", "FormStreamCommand", "FormStreamHTTP"]),
    // The built command, run in a fresh directory.
    tests(
      of: "FormStreamCommandLine",
      ["FormStreamMultipart", "formstream", "formstream-extremes-probe"]),
  ]
)

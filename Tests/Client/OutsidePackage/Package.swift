// swift-tools-version: 6.0
import PackageDescription

// A package that depends on `LetsSwitchClient`. OutsidePackageTests puts it next to a copy of the repository, and
// builds it.
let package = Package(
    name: "Outside",
    dependencies: [.package(path: "../LetsSwitch")],
    targets: [
        // A program that enters a room.
        .executableTarget(name: "room", dependencies: [.product(name: "LetsSwitchClient", package: "LetsSwitch")]),
        // A program without the library, to compare size and memory with.
        .executableTarget(name: "floor"),
    ]
)

// swift-tools-version: 6.0
import PackageDescription

// What another package does to have `LetsSwitchClient`. OutsidePackageTests puts it beside a copy of the repository, and builds it.
let package = Package(
    name: "Outside",
    dependencies: [.package(path: "../LetsSwitch")],
    targets: [
        // In a room.
        .executableTarget(name: "room", dependencies: [.product(name: "LetsSwitchClient", package: "LetsSwitch")]),
        // What it would be without: the floor that its size and memory are compared with.
        .executableTarget(name: "floor"),
    ]
)

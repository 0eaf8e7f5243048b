import Foundation
import TestSupport

/// A package that depends on `LetsSwitchClient`, in a directory next to a copy of the repository.
struct OutsidePackage {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outside-\(UUID().uuidString)")
        let repository = directory.appendingPathComponent("LetsSwitch")
        try FileManager.default.createDirectory(at: repository, withIntermediateDirectories: true)
        for name in ["Package.swift", "Sources", "Tests"] {
            try FileManager.default.copyItem(
                at: Checkout.url(name), to: repository.appendingPathComponent(name))
        }
        try FileManager.default.copyItem(
            at: Checkout.url("Tests/Client/OutsidePackage"), to: directory.appendingPathComponent("Outside"))
    }

    func remove() throws { try FileManager.default.removeItem(at: directory) }

    /// Builds the package's programs in the release configuration.
    ///
    /// - Returns: The directory of the programs.
    func build() async throws -> URL {
        let package = directory.appendingPathComponent("Outside").path
        let process = try await ChildProcess.start(
            "/usr/bin/env",
            ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", package],
            environment: ProcessInfo.processInfo.environment)
        guard try await process.waitForExit(within: .seconds(1800)) == .exited(0) else {
            throw ClientFailure.violation("swift build: \(process.lines.all.map(\.text).suffix(40))")
        }
        let built = directory.appendingPathComponent("Outside/.build/release")
        for program in ["room", "floor"] {
            let stripping = try await ChildProcess.start(
                "/usr/bin/env", ["strip", built.appendingPathComponent(program).path],
                environment: ProcessInfo.processInfo.environment)
            guard try await stripping.waitForExit() == .exited(0) else { throw ClientFailure.violation("strip") }
        }
        return built
    }
}

/// A program of the outside package.
struct OutsideProgram {
    let file: URL

    /// The size of the program's file in bytes.
    var size: Int {
        get throws { try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
    }

    /// The libraries that the program is linked to.
    func libraries() async throws -> [String] {
        let process = try await ChildProcess.start(
            "/usr/bin/env", ["readelf", "-d", "--wide", file.path],
            environment: ProcessInfo.processInfo.environment)
        _ = try await process.waitForExit()
        return process.lines.all.map(\.text).filter { $0.contains("(NEEDED)") }.compactMap { line in
            line.split(whereSeparator: { $0 == "[" || $0 == "]" }).dropFirst().first.map(String.init)
        }
    }

    func start(_ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess.start(file.path, arguments, environment: DaemonProcess.cleanEnvironment())
    }

    /// Returns a running process's memory in kilobytes.
    static func memory(of pid: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw ClientFailure.violation("no VmRSS")
        }
        return kilobytes
    }
}

import Foundation
import TestSupport
import Testing

/// The tools that build Debian packages.
private enum PackageTools {
    static let areInstalled = ["dpkg-deb", "dpkg-shlibdeps", "strip"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }
}

/// The files that `make install` and the packages install.
@Suite(.enabled(if: PackageTools.areInstalled, "dpkg-dev is missing: sh Sources/Scripts/set-up.sh deb"))
struct PackageTests {
    private let directory = TestClusterDirectories.shared.make()

    /// Runs the repository's `make` with copies of `/usr/bin/true` instead of freshly built programs.
    @discardableResult
    private func make(_ arguments: String...) async throws -> String {
        let (daemon, command) = ("\(directory)/letsswitchd", "\(directory)/letsswitch")
        let program = try Data(contentsOf: URL(filePath: "/usr/bin/true"))
        // The copies must be newer than every source file, or `make` builds the programs.
        for path in [daemon, command] { try program.write(to: URL(filePath: path)) }
        return try await run(
            "/usr/bin/make",
            ["--no-print-directory", "-C", Checkout.root.path, "BINARY=\(daemon)", "COMMAND=\(command)"]
                + arguments)
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> String {
        let process = try await ChildProcess.start(
            program, arguments, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": directory])
        let status = try await process.waitForExit()
        #expect(status == .exited(0), "\(program) \(arguments): \(process.lines.all.map(\.text))")
        return process.text(of: .output)
    }

    private func installed(in root: String) -> Set<String> {
        let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return Set(
            files.filter { path in
                var isDirectory: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isDirectory)
                    && !isDirectory.boolValue
            })
    }

    @Test("`make install` and the packages install the same files")
    func files() async throws {
        let root = "\(directory)/root"
        try await make("install", "PREFIX=/usr", "DESTDIR=\(root)")
        let installed = installed(in: root)
        #expect(installed.contains("usr/bin/letsswitchd") && installed.contains("usr/bin/letsswitch"))
        #expect(installed.contains("usr/lib/systemd/system/letsswitchd.service"))

        try await make("packages", "DEB=\(directory)/deb")
        let packages = try FileManager.default.contentsOfDirectory(atPath: "\(directory)/deb").filter {
            $0.hasSuffix(".deb")
        }
        #expect(packages.count == 2)
        var packed: Set<String> = []
        for package in packages {
            let listing = try await run("/usr/bin/dpkg-deb", ["--contents", "\(directory)/deb/\(package)"])
            for line in listing.split(separator: "\n") where !line.hasPrefix("d") {
                #expect(line.contains(" root/root "), "\(line)")
                packed.insert(String(try #require(line.split(separator: " ").last).dropFirst(2)))
            }
        }
        // The packages also have the documents that Debian requires, and their manual pages are compressed.
        let documents = packed.filter { $0.hasPrefix("usr/share/doc/") }
        #expect(documents.count == 4, "\(documents)")
        let plain = packed.subtracting(documents).map {
            $0.hasPrefix("usr/share/man/") ? $0.replacing(".gz", with: "") : $0
        }
        #expect(Set(plain) == installed)

        try await make("uninstall", "PREFIX=/usr", "DESTDIR=\(root)")
        #expect(self.installed(in: root) == ["etc/default/letsswitch"])
    }
}

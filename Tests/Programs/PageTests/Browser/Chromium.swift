import Foundation
import Glibc
import TestSupport

/// A headless Chromium, one for all tests of the process. Each page has a storage of its own: it is somebody else's browser.
actor Chromium {
    /// Without a user interface, where there is one: it takes less than half the processor's time. It shows no notifications.
    /// Not by Debian's script for it, which waits for the browser and, when it is killed, leaves it behind.
    static let shared = Chromium(["/usr/lib/chromium/chromium-headless-shell"] + browsers)
    /// The whole browser.
    static let whole = Chromium(browsers)

    /// A name for this machine that a browser does not take for it: what is served there is not trusted as localhost is.
    static let untrustedName = "letsswitch.test"

    static var isInstalled: Bool { whole.executable != nil }
    private static let browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

    private let executable: String?
    private var starting: Task<(ChildProcess, DevTools), any Error>?

    private init(_ candidates: [String]) {
        executable = candidates.first { access($0, X_OK) == 0 }
    }

    func devTools() async throws -> DevTools { try await started().1 }

    /// What is killed when the tests end.
    func pid() async throws -> Int32 { try await started().0.pid }

    private func started() async throws -> (ChildProcess, DevTools) {
        guard let executable else { throw ClientFailure.misuse("there is no Chromium") }
        let task = starting ?? Task { try await Self.start(executable) }
        starting = task
        return try await task.value
    }

    private enum Sandbox {
        case its, none
    }

    /// With Chromium's sandbox, where it has one: it refuses root, and needs either namespaces that anybody may make or
    /// a helper that is set-user-ID, of which containers, chroots and AppArmor leave it neither. Then it ends before it
    /// says its address; these pages are our own, so they are shown without.
    private static func start(_ executable: String) async throws -> (ChildProcess, DevTools) {
        guard geteuid() != 0 else { return try await start(executable, .none) }
        do {
            return try await start(executable, .its)
        } catch ClientFailure.ended(_, let words) {
            do {
                let started = try await start(executable, .none)
                LeftOut.say("Chromium's sandbox: none is usable here, so the tests of the page run it without")
                return started
            } catch {
                throw ClientFailure.violation("\(error); before, with its sandbox: \(words)")
            }
        }
    }

    private static func start(_ executable: String, _ sandbox: Sandbox) async throws -> (ChildProcess, DevTools) {
        // Cleared away at the process's exit.
        let profile = TestClusterDirectories.shared.make()
        var arguments = [
            "--headless=new", "--remote-debugging-port=0", "--user-data-dir=\(profile)", "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
            "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding", "--host-resolver-rules=MAP \(untrustedName) 127.0.0.1",
        ]
        if sandbox == .none { arguments.append("--no-sandbox") }
        let process = try await ChildProcess.start(
            executable, arguments + ["about:blank"],
            environment: DaemonProcess.cleanEnvironment().merging(["HOME": profile, "TMPDIR": profile]) { $1 })
        let prefix = "DevTools listening on ws://"
        let line = try await process.lines.next("Chromium's address") { $0.text.hasPrefix(prefix) }.text
        let address = line.dropFirst(prefix.count)
        guard let slash = address.firstIndex(of: "/"), let endpoint = ClientEndpoint(String(address[..<slash])) else {
            throw ClientFailure.violation("no address: \(line)")
        }
        return (process, try await DevTools.connect(to: endpoint, String(address[slash...])))
    }
}

import Foundation
import TestSupport
import Testing

/// A shell environment that runs the commands of the operators' pages as written. `sudo` and `systemctl` are stand-ins,
/// and `systemctl` starts and stops a daemon like a service. Directories of the test replace those below `/var` and
/// `/etc`.
struct OperatorMachine {
    let directory = TestClusterDirectories.shared.make()

    init() throws {
        for name in ["bin", "backups", "etc", "first", "second"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
            chmod("\(directory)/\(name)", 0o755)
        }
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory)/bin/letsswitchd", withDestinationPath: DaemonProcess.executable())
        try tool("sudo", #"exec "$@""#)
        try tool(
            "systemctl",
            """
            pid=\(directory)/pid
            case $1 in
            stop)
                kill -TERM "$(cat $pid)"
                while kill -0 "$(cat $pid)" 2>/dev/null; do sleep 0.05; done ;;
            start)
                # Not to be taken for the new one's.
                rm -f "$LETSSWITCH_STATE_DIR/log"
                letsswitchd --listen 127.0.0.1:0 --log-format json >"$LETSSWITCH_STATE_DIR/log" 2>&1 </dev/null &
                echo $! >$pid
                until grep -q '"msg":"listening"' "$LETSSWITCH_STATE_DIR/log"; do kill -0 $!; sleep 0.05; done ;;
            reload) kill -HUP "$(cat $pid)" ;;
            *) exit 64 ;;
            esac
            """)
    }

    private func tool(_ name: String, _ script: String) throws {
        let path = "\(directory)/bin/\(name)"
        try "#!/bin/sh -e\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o755)
    }

    /// Returns the output of the commands. Records an issue if they fail.
    @discardableResult
    func run(_ commands: String, _ variables: [String: String] = [:]) async throws -> String {
        var environment = DaemonProcess.cleanEnvironment().merging(variables) { _, given in given }
        environment["PATH"] = "\(directory)/bin:\(environment["PATH"] ?? "/usr/bin:/bin")"
        let script = commands.replacing("/var/backups", with: "\(directory)/backups")
            .replacing("/etc/letsswitch", with: "\(directory)/etc")
        let shell = try await ChildProcess.start(
            "/bin/sh", ["-ec", "cd \(directory)\n\(script)"], environment: environment)
        let status = try await shell.waitForExit()
        #expect(status == .exited(0), "\(script): \(shell.lines.all.map(\.text))")
        return shell.text(of: .output)
    }
}

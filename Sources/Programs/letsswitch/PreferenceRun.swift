import FoundationEssentials
import LetsSwitchClient

/// The commands for preferred partners.
struct PreferenceRun {
    let preferences: Preferences
    let output: Output

    func add(_ task: String) async throws {
        let (preference, source) = try await preferences.add(taskID: task)
        try output.writeObject(
            source, "If several people wait, the partner who promised \(Self.line(preference)) comes first.")
    }

    /// Lists all preferences, the latest first.
    func list() async throws {
        var next: UUID?
        repeat {
            let page = try await preferences.page(before: next)
            if output.isTerminal {
                for preference in page.preferences {
                    try output.write("\(Self.line(preference))\n    letsswitch unprefer \(preference.id)")
                }
            } else {
                try output.writeObject(page.source, "")
            }
            next = page.next
        } while next != nil
    }

    func remove(_ id: String) async throws {
        try await preferences.remove(id: id)
        if output.isTerminal { try output.write("The preference is removed.") }
    }

    private static func line(_ preference: Preference) -> String {
        Output.indented("\(preference.title) at \(preference.startsAt.formatted(.iso8601))")
    }
}

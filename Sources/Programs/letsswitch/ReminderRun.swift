import LetsSwitchClient

/// The command `watch`.
struct ReminderRun {
    let client: LetsSwitchClient
    let output: Output

    /// Shows reminders as they arrive.
    func watch() async throws {
        try await client.checkReachability()
        for try await reminder in client.reminders {
            try output.writeObject(reminder.source, Self.text(reminder))
        }
    }

    static func text(_ reminder: Reminder) -> String {
        let title = Output.inLine(reminder.title)
        guard let partner = reminder.partnerTitle.map(Output.inLine), let room = reminder.roomID else {
            return "\(reminder.startTime) \(title); you have no partner"
        }
        return "\(reminder.startTime) \(title); your partner starts \(partner): letsswitch join \(room)"
    }
}

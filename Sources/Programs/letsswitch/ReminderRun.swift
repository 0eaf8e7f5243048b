import LetsSwitchClient

/// Waiting for reminders.
struct ReminderRun {
    let client: LetsSwitchClient
    let output: Output

    /// Shows them as they come.
    func watch() async throws {
        try await client.checkReachability()
        for try await reminder in client.reminders {
            try output.tell(reminder.source, Self.text(reminder))
        }
    }

    static func text(_ reminder: Reminder) -> String {
        let title = Output.inLine(reminder.title)
        guard let partner = reminder.partnerTitle.map(Output.inLine), let room = reminder.roomID else {
            return "\(reminder.startTime) \(title), alone"
        }
        return "\(reminder.startTime) \(title); somebody starts \(partner): letsswitch join \(room)"
    }
}

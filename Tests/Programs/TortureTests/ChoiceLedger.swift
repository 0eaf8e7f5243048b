/// The matches that must exist, because the chooser prefers a waiting device to one that has waited longer.
struct ChoiceLedger {
    struct Choice {
        /// Epoch seconds.
        let slot: Int
        let chooser: String
        let preferred: String
    }

    private var choices: [Choice] = []

    /// Notes a choice whose last request was answered.
    mutating func made(_ choice: Choice) { choices.append(choice) }

    /// Returns the violations. No request may be in progress.
    func violations(in stored: StoredSchedule) -> [String] {
        choices.compactMap { choice in
            let own = stored.tasks.first { $0.device == choice.chooser && $0.slot == choice.slot }
            guard own?.partnerDevice != choice.preferred else { return nil }
            return """
                \(choice.chooser) prefers \(choice.preferred), who waited at \(choice.slot), and has \
                \(own?.partnerDevice ?? "nobody")
                """
        }
    }
}

/// Who had to be whose partner, since both were there, and one prefers the other to somebody who has waited longer.
struct ChoiceLedger {
    struct Choice {
        /// Epoch seconds.
        let slot: Int
        let chooser: String
        let preferred: String
    }

    private var choices: [Choice] = []

    /// The chooser was told that it has a partner there.
    mutating func made(_ choice: Choice) { choices.append(choice) }

    /// For a moment at which nothing is under way.
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

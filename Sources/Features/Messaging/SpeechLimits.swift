/// What holds for questions and conversations alike.
enum SpeechLimits {
    /// Of a question, an answer, an announcement, a message.
    static let scalars = 2_000
    /// Entries of a page, and about how many bytes of JSON: whichever is first.
    static let pageEntries = 100
    static let pageBytes = 32 * 1024
}

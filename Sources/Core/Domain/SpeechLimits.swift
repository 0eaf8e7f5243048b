/// The limits that questions and conversations share.
package enum SpeechLimits {
    /// The maximum number of Unicode scalars of a question, an answer, an announcement or a message.
    package static let scalars = 2_000
    /// The maximum number of entries and the approximate maximum bytes of JSON in a page. The lower limit applies.
    package static let pageEntries = 100
    package static let pageBytes = 32 * 1024
}

import CEmbedded

/// Examples of answers. Each line has a name, a status, and a body in JSON.
enum AnswerExamples {
    /// Examples by operation and status, recorded from a daemon by a test: `answers.txt`.
    static let all = read(EmbeddedFile.answers_txt)
    /// Examples of errors by code and status: `refusals.txt`. A test checks that the sources contain each reason.
    static let refusals = read(EmbeddedFile.refusals_txt)

    private static func read(_ file: EmbeddedFile) -> [String: [Int: [UInt8]]] {
        var all: [String: [Int: [UInt8]]] = [:]
        for line in String(cString: file.bytes).utf8.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard parts.count == 3, let status = Int(String(Substring(parts[1]))) else { continue }
            all[String(Substring(parts[0])), default: [:]][status] = Array(parts[2])
        }
        return all
    }
}

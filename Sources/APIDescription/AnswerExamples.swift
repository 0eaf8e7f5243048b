import CEmbedded

/// What routes answer, as a test had it from a daemon: `answers.txt`, in whose lines stand an operation, a status, and a body in JSON.
enum AnswerExamples {
    /// By operation and status.
    static let all: [String: [Int: [UInt8]]] = {
        var all: [String: [Int: [UInt8]]] = [:]
        for line in String(cString: EmbeddedFile.answers_txt.bytes).utf8.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard parts.count == 3, let status = Int(String(Substring(parts[1]))) else { continue }
            all[String(Substring(parts[0])), default: [:]][status] = Array(parts[2])
        }
        return all
    }()
}

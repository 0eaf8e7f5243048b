/// What routes answer, as a test had it from a daemon: `answers.txt`, in whose lines stand an operation, a status, and a body in JSON.
enum AnswerExamples {
    /// By operation and status.
    static let all: [String: [Int: [UInt8]]] = {
        var all: [String: [Int: [UInt8]]] = [:]
        for line in PackageResources.answers_txt.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard parts.count == 3, let status = Int(String(decoding: parts[1], as: UTF8.self)) else { continue }
            all[String(decoding: parts[0], as: UTF8.self), default: [:]][status] = Array(parts[2])
        }
        return all
    }()
}

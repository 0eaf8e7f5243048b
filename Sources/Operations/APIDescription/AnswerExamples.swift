package import CEmbedded

/// Examples of answers and errors. Each line of a file has a name, a status, and a body in JSON.
package struct AnswerExamples {
    /// The answers of operations, by the operation and the status. A test records them from a daemon.
    package private(set) var answers: [String: [Int: [UInt8]]] = [:]
    /// The errors, by the code and the status. A test checks that the sources contain each reason.
    package private(set) var errors: [String: [Int: [UInt8]]] = [:]

    /// - Parameter features: The files `examples.txt` of the features that are on.
    package init(_ features: [EmbeddedFile]) {
        for file in features + [EmbeddedFile.common_examples_txt] {
            for line in String(cString: file.bytes).utf8.split(separator: UInt8(ascii: "\n")) {
                let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
                guard parts.count == 3, let status = Int(String(Substring(parts[1]))) else { continue }
                let name = String(Substring(parts[0]))
                if status < 400 {
                    answers[name, default: [:]][status] = Array(parts[2])
                } else {
                    errors[name, default: [:]][status] = Array(parts[2])
                }
            }
        }
    }
}

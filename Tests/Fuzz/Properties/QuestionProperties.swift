import FoundationEssentials
import LetsSwitch
import Wire

@testable import Questions

/// Messages and forms of an audience: they are understood exactly when a simple parser understands them, and no input
/// traps.
enum QuestionProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let message = read(input.content)
        let tree = PlainJSON(input.content, depth: JSONSyntax.maximumDepth)
        try require(
            read(Array(" \n".utf8) + input.content + Array("\t\r ".utf8)) == message,
            "with space around it, it is another")
        try checkForm(input.content)

        guard let tree else {
            try require(message.isUnknown, "\(message), where a plain reading finds no JSON")
            return
        }
        let names = ["type", "id", "content", "questionId"]
        guard names.allSatisfy({ tree.text($0).isUnique }) else { return }
        let question = PlainJSON.uuid(tree.text("questionId").text)
        switch (tree.text("type").text, message) {
        case ("newQuestion", .ask(let id, let content)):
            try require(id == PlainJSON.uuid(tree.text("id").text), "asked by \(String(describing: id))")
            try require(
                content.map { Array($0.utf8) } == tree.text("content").text.map { Array($0.utf8) }, "another content")
        case ("vote", .vote(let voted, true)), ("unvote", .vote(let voted, false)):
            try require(voted == question, "a vote for \(String(describing: voted))")
        case ("newQuestion", _), ("vote", _), ("unvote", _): try require(false, "it is \(message)")
        default: try require(message.isUnknown, "it is \(message)")
        }
    }

    /// A form's fields are UTF-8, and escaped text is decoded correctly.
    private static func checkForm(_ content: [UInt8]) throws(BrokenProperty) {
        _ = FormText(content)
        var escaped = Array("a=".utf8)
        for byte in content where byte != 0 {
            escaped += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
        }
        guard let text = String(validating: content.filter { $0 != 0 }, as: UTF8.self) else { return }
        let form = FormText(escaped + Array("&b=+".utf8))
        try require(form?["a"].map { Array($0.utf8) } == Array(text.utf8), "a field isn't what was escaped")
        try require(form?["b"] == " ", "a plus is no space")
    }

    private static func digit(_ value: UInt8) -> UInt8 { Array("0123456789abcdef".utf8)[Int(value)] }

    private static func read(_ content: [UInt8]) -> QuestionMessage {
        withExactMemory(content) { QuestionMessage(UnsafeRawBufferPointer($0)) }
    }
}

extension QuestionMessage {
    fileprivate var isUnknown: Bool {
        if case .unknown = self { true } else { false }
    }
}

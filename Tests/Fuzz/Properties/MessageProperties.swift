import FoundationEssentials
import LetsSwitch
import Matches
import Rooms
import Wire

/// Messages in a room: each code path finds an ale exactly when a simple parser does.
enum MessageProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let message = withExactMemory(input.content) { AleMessage(UnsafeRawBufferPointer($0)) }
        let isJSON = input.content.withUnsafeBytes(JSONSyntax.isValid)
        let tree = PlainJSON(input.content, depth: JSONSyntax.maximumDepth)
        try require(isJSON == (tree != nil), "a plain reading finds \(tree == nil ? "no " : "")JSON")

        // White space around the message changes nothing except the alignment in memory.
        let padded = Array(" \n".utf8) + input.content + Array("\t\r ".utf8)
        let again = withExactMemory(padded) { AleMessage(UnsafeRawBufferPointer($0)) }
        try require(again == message, "with space around it, it is \(again), not \(message)")

        // With an escape in an unknown member, the general decoder reads the message.
        if isJSON, case .object? = tree, let end = input.content.lastIndex(of: UInt8(ascii: "}")),
            case .object(let members)? = tree, !members.isEmpty
        {
            let slow = Array(input.content[..<end]) + Array(#","\u0000":"\u0041"}"#.utf8)
            let decoded = withExactMemory(slow) { AleMessage(UnsafeRawBufferPointer($0)) }
            let isSame = decoded == message
            try require(isSame || !isUnique(tree), "the decoder takes it for \(decoded), not \(message)")
        }
        guard isUnique(tree) else { return }
        let text = tree?.text("id").text ?? ""
        let isAle = tree?.text("type").text == "ale" && isUUID(text)
        let kind = CheerKind(named: (tree?.text("kind").text ?? "").utf8)
        let expected = isAle ? UUID(uuidString: text).map { AleMessage.ale($0, kind) } : nil
        if case .ale = message {
            try require(message == expected, "an ale, where a plain reading finds \(String(describing: expected))")
        } else {
            try require(expected == nil, "not an ale, but \(message)")
        }
    }

    private static func isUnique(_ tree: PlainJSON?) -> Bool {
        guard let tree else { return true }
        return ["type", "id", "kind"].allSatisfy { tree.text($0).isUnique }
    }

    /// RFC 9562 §4.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let digits = Set("0123456789abcdefABCDEF".utf8)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy(digits.contains)
    }
}

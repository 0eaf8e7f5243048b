/// The body of a request about a task: text values by their names, and whether the task waits for a guest.
struct TaskBody: Encodable {
    var texts: [String: String]
    var isInviting = false

    private struct Member: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        for (name, text) in texts { try members.encode(text, forKey: Member(stringValue: name)) }
        if isInviting { try members.encode(true, forKey: Member(stringValue: "invite")) }
    }
}

import Server
package import Wire

/// The schema of a message that subscribers of a channel receive: `{"type":…,"data":…}`.
package struct CableContentSchema: Sendable {
    let type: String
    let data: JSONSchema

    package init(_ type: String, _ data: JSONSchema) {
        self.type = type
        self.data = data
    }

    /// Returns one schema for each type. Channels may send the same type with different data.
    static func joined(_ contents: [CableContentSchema]) -> [JSONSchema] {
        var types: [String] = []
        var choices: [String: [JSONSchema]] = [:]
        for content in contents {
            if choices[content.type] == nil { types.append(content.type) }
            guard choices[content.type]?.contains(content.data) != true else { continue }
            choices[content.type, default: []].append(content.data)
        }
        return types.map { type in
            let data = choices[type, default: []]
            return .message(type, [.member("data", data.count == 1 ? data[0] : .either(data))])
        }
    }
}

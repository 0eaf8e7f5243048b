/// What a client has a subscription do: the object in the `data` of its message.
package struct CableAction: Sendable, Equatable {
    /// As Rails does where none is named.
    private static let defaultName = "receive"

    /// The action's name in UTF-8.
    package let name: [UInt8]
    /// All of it, the name included.
    package let members: JSONObject

    /// - Parameter data: A string's bytes; `nil` when it holds no object, or one whose `action` isn't a string.
    package init?(_ data: [UInt8]) {
        guard let members = JSONObject(data) else { return nil }
        switch members["action"] {
        case .string(let name)?: self.name = name.isEmpty ? Array(Self.defaultName.utf8) : name
        case nil, .null?: name = Array(Self.defaultName.utf8)
        case .number?, .boolean?, .nested?: return nil
        }
        self.members = members
    }

    package func isNamed(_ name: StaticString) -> Bool {
        self.name.elementsEqual(UnsafeRawBufferPointer(name))
    }
}

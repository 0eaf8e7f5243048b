/// An action that a client requests of its subscription: the object in the `data` of its message.
package struct CableAction: Sendable, Equatable {
    /// Rails uses this name if there is none.
    private static let defaultName = "receive"

    /// The action's name in UTF-8.
    package let name: [UInt8]
    /// The whole object, including the name.
    package let members: JSONObject

    /// - Parameter data: The bytes of a string. `nil` if it contains no object, or its `action` isn't a string.
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

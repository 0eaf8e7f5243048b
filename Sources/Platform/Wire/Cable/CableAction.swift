/// An action of a subscription that a client requests: the object in the `data` of its message.
package struct CableAction: Sendable, Equatable {
    /// The name of an action without a name, as in Rails.
    private static let defaultName = "receive"

    /// The action's name in UTF-8.
    package let name: [UInt8]
    /// The whole object, with the name.
    package let members: JSONObject

    /// - Parameter data: The content of a JSON string. The result is `nil` if it isn't an object, or if its `action`
    ///   isn't a string.
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

import Wire

/// Messages of Action Cable clients: the parser finds a command exactly when a simple parser does, and an identifier is
/// returned unchanged.
enum CableProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let message = input.content
        let tree = PlainJSON(message, depth: JSONSyntax.maximumDepth)
        let outcome = withExactMemory(message) { memory in
            Result { () throws(CableFault) in try CableCommand(UnsafeRawBufferPointer(memory)) }
        }
        let extended = message.withUnsafeBytes { bytes in
            Result { () throws(CableFault) in try CableCommand(bytes, isExtended: true) }
        }
        if case .success(let command) = outcome, case .success(let extended) = extended {
            try require(command.identifier == extended.identifier, "another identifier by the extended protocol")
        }
        if let history = CableHistory(message) {
            try require(history.positions.allSatisfy { $0.offset >= 0 }, "an offset below zero")
        }
        let object = JSONObject(message)
        if case .object? = tree {
            try require(object != nil, "an object that isn't read")
        } else {
            try require(object == nil, "an object, where a plain reading finds none")
        }
        switch outcome {
        case .failure(let fault):
            let isWhole = isCommand(tree) && tree?.text("identifier").text != nil
            try require(!isWhole || !isUnique(tree), "\(fault), where a plain reading finds a command")
        case .success(let command):
            try checkCommand(command, tree)
        }
        // The input is also parsed as an identifier and as an action.
        try checkIdentifier(CableIdentifier(message), isText: String(validating: message, as: UTF8.self) != nil)
        if let action = CableAction(message) {
            try require(object != nil && action.members == object, "an action of another object")
        }
    }

    /// Returns what a server reads when a client sends a message in a channel.
    static func received(_ bytes: [UInt8]) -> (identifier: [UInt8], data: [UInt8]?)? {
        let command = bytes.withUnsafeBytes { bytes in Result { () throws(CableFault) in try CableCommand(bytes) } }
        guard case .success(.message(let identifier, let data)) = command else { return nil }
        return (identifier.bytes, data)
    }

    private static func checkCommand(_ command: CableCommand, _ tree: PlainJSON?) throws(BrokenProperty) {
        if isUnique(tree) {
            try require(isCommand(tree), "\(command), where a plain reading finds none")
            let text = tree?.text("identifier").text
            try require(
                text.map { CableIdentifier($0) } == command.identifier, "not the identifier \(String(describing: text))"
            )
            if case .message(_, let data) = command {
                try require(data == tree?.text("data").text.map { Array($0.utf8) }, "other data")
            }
        }
        try checkIdentifier(command.identifier, isText: true)
    }

    private static func checkIdentifier(_ identifier: CableIdentifier, isText: Bool) throws(BrokenProperty) {
        let parameters = identifier.parameters
        if let parameters {
            _ = (parameters.channel, parameters.text("id"), parameters.isTrue("presence"), parameters.has("id"))
        }
        guard isText else { return }
        for message in [
            CableMessage.confirmation(identifier), .rejection(identifier), .message(identifier, .error("a", "b")),
        ] {
            let written = JSONObject(message.bytes)
            try require(written?.string("identifier") == identifier.bytes, "the identifier comes back as another")
            try require(!message.bytes.contains(0x0A), "a line break")
        }
    }

    private static func isCommand(_ tree: PlainJSON?) -> Bool {
        ["subscribe", "unsubscribe", "message"].contains { name in
            tree?.text("command").text.map { $0.utf8.elementsEqual(name.utf8) } ?? false
        }
    }

    private static func isUnique(_ tree: PlainJSON?) -> Bool {
        tree.map { tree in ["command", "identifier", "data"].allSatisfy { tree.text($0).isUnique } } ?? true
    }
}

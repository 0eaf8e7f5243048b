/// The header fields of a request, as a view of its head. Case doesn't matter in names (RFC 9110 §5.1).
///
/// Values are text without white space at the beginning and end. Bytes that aren't UTF-8 become U+FFFD.
package struct HTTPHeaders: Sendable, Sequence {
    private let head: HTTPRequestHead

    init(head: HTTPRequestHead) {
        self.head = head
    }

    package var count: Int { head.fields.count }

    /// The value of the first field called `name`.
    package func value(_ name: StaticString) -> String? {
        firstIndex(of: name, from: 0).map { head.text(head.fields[$0].value) }
    }

    /// Calls `body` with the value of the field `name` and returns the result, if there is exactly one such field. No
    /// string is made.
    func withOnlyValue<Result>(_ name: StaticString, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard let index = firstIndex(of: name, from: 0), firstIndex(of: name, from: index + 1) == nil else {
            return nil
        }
        return head.bytes.withUnsafeBytes { body($0.part(head.fields[index].value.range)) }
    }

    /// The values of all fields called `name`, in their order.
    package func values(_ name: StaticString) -> [String] {
        var values: [String] = []
        var next = 0
        while let index = firstIndex(of: name, from: next) {
            values.append(head.text(head.fields[index].value))
            next = index + 1
        }
        return values
    }

    /// Whether there is a field called `name`.
    package func contains(_ name: StaticString) -> Bool {
        firstIndex(of: name, from: 0) != nil
    }

    /// Whether `token` is an element of the comma-separated lists in the fields `name`, such as `contains("Connection",
    /// token: "upgrade")` (RFC 9110 §7.6.1). Case doesn't matter. Allocates nothing.
    package func contains(_ name: StaticString, token: StaticString) -> Bool {
        var found = false
        var next = 0
        while !found, let index = firstIndex(of: name, from: next) {
            head.bytes.withUnsafeBytes { bytes in
                bytes.forEachListElement(in: head.fields[index].value.range) { element in
                    if element.equalsIgnoringCase(token) { found = true }
                }
            }
            next = index + 1
        }
        return found
    }

    /// Calls `body` with the values of the fields `name`, in order, until it returns `false`. Allocates nothing.
    func forEachValue(_ name: StaticString, _ body: (UnsafeRawBufferPointer) -> Bool) {
        head.bytes.withUnsafeBytes { bytes in
            for field in head.fields where bytes.part(field.name.range).equalsIgnoringCase(name) {
                guard body(bytes.part(field.value.range)) else { return }
            }
        }
    }

    /// The maximum number of elements that are read of a list of preferences. A head has space for thousands, but no
    /// client needs more than this.
    static var maxListElements: Int { 32 }

    /// Calls `body` with the first ``maxListElements`` non-empty elements of the comma-separated lists in the fields
    /// `name`, until it returns `false`. Allocates nothing.
    func forEachListElement(of name: StaticString, _ body: (UnsafeRawBufferPointer) -> Bool) {
        var left = Self.maxListElements
        forEachValue(name) { list in
            var rest = 0..<list.count
            while left > 0, let element = list.takeListElement(from: &rest) {
                guard element.isEmpty || body(element) else { return false }
                left -= 1
            }
            return left > 0
        }
    }

    /// Returns all fields in order, with the names as they were sent.
    package func makeIterator() -> AnyIterator<(name: String, value: String)> {
        var fields = head.fields.makeIterator()
        return AnyIterator { [head] in
            fields.next().map { (head.text($0.name), head.text($0.value)) }
        }
    }

    private func firstIndex(of name: StaticString, from start: Int) -> Int? {
        head.bytes.withUnsafeBytes { bytes in
            (start..<head.fields.count).first { bytes.part(head.fields[$0].name.range).equalsIgnoringCase(name) }
        }
    }
}

/// A field of a response.
package struct HTTPField: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    package static let contentTypeJSON = HTTPField("Content-Type", "application/json")
}

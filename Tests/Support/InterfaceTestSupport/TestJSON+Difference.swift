package import TestSupport

extension TestJSON {
    /// Returns the first difference from an example in members or their types; `nil` if there is none.
    package func difference(from example: TestJSON, at place: String = "it") -> String? {
        switch (self, example) {
        case (.object(let members), .object(let others)):
            guard members.keys == others.keys else {
                return "\(place) has \(members.keys.sorted()), and not \(others.keys.sorted())"
            }
            return members.keys.lazy.sorted().compactMap {
                self[$0].difference(from: example[$0], at: "\(place)/\($0)")
            }.first
        case (.array(let elements), .array(let others)):
            guard elements.count == others.count else {
                return "\(place) has \(elements.count) elements, and not \(others.count)"
            }
            return elements.indices.lazy.compactMap {
                elements[$0].difference(from: others[$0], at: "\(place)/\($0)")
            }.first
        case (.string, .string), (.number, .number), (.bool, .bool), (.null, .null): return nil
        default: return "\(place) is \(self), and not like \(example)"
        }
    }
}

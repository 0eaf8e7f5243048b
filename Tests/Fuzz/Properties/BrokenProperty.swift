/// A property that doesn't hold for an input.
package struct BrokenProperty: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws unless the property holds.
func require(_ holds: Bool, _ property: @autoclosure () -> String) throws(BrokenProperty) {
    guard holds else { throw BrokenProperty(property()) }
}

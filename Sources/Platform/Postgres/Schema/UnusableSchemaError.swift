/// The schema in a database can't be used or updated by this program. Trying again doesn't help.
package struct UnusableSchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence for people that says what to do.
    package let description: String
}

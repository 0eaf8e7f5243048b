/// The kind of a cheer.
package enum CheerKind: UInt8, CaseIterable, Sendable {
    case plain
    case clap, thumb, spark, heart, fire

    /// All kinds except the plain one.
    static let special = allCases.dropFirst()

    /// The name in the protocol; nil for a plain cheer.
    package var name: StaticString? {
        switch self {
        case .plain: nil
        case .clap: "clap"
        case .thumb: "thumb"
        case .spark: "spark"
        case .heart: "heart"
        case .fire: "fire"
        }
    }

    /// Returns the kind with this name; the plain kind for an unknown name. Allocates nothing.
    ///
    /// - Parameter name: In UTF-8.
    package init(named name: some Sequence<UInt8>) {
        self =
            Self.special.first {
                guard let known = $0.name else { return false }
                return name.elementsEqual(
                    UnsafeRawBufferPointer(start: known.utf8Start, count: known.utf8CodeUnitCount))
            } ?? .plain
    }
}

/// What kind of cheer an ale is.
package enum CheerKind: UInt8, CaseIterable, Sendable {
    case plain
    case clap, thumb, spark, heart, fire

    /// Those that aren't plain.
    static let special = allCases.dropFirst()

    /// As its senders and receivers call it; nil for a plain one.
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

    /// What nobody knows is a plain one. Allocates nothing.
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

package import Wire

/// Schemas that several routes use.
extension JSONSchema {
    package static let device = JSONSchema.described(
        "The device's secret. Anyone who knows it can act for the device.", .text(length: 1...DeviceID.maximumScalars))
    package static let uuid = JSONSchema.text(format: "uuid")
    package static let instant = JSONSchema.text(format: "date-time")
    package static let zone = JSONSchema.described("An IANA time zone, such as Europe/London.", .text())
    package static let title = JSONSchema.text(length: 1...RequestText.maximumTitleScalars)
    /// `{}`, the response of a successful command.
    package static let emptyObject = JSONSchema.shared("Empty", .object([]))
    package static let count = JSONSchema.integer(0 ... .max)
}

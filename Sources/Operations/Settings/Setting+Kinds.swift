/// The kinds of rows: each reads its value, checks it against its range, and takes its default from `Configuration()`.
extension Setting {
    typealias Field<Value> = any WritableKeyPath<Configuration, Value> & Sendable

    static func integer(
        _ name: String, _ field: Field<Int>, in range: ClosedRange<Int>, _ section: Section,
        default text: String? = nil,
        _ help: String
    ) -> Setting {
        Setting(
            name: name, section: section, kind: .value(placeholder: "N"), help: help,
            defaultText: text ?? String(Configuration()[keyPath: field])
        ) { configuration, values throws(InvalidValue) in
            for value in values {
                guard let number = Int(value), range.contains(number), value.first?.isNumber == true else {
                    throw InvalidValue(
                        value, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
                }
                configuration[keyPath: field] = number
            }
        }
    }

    static func duration(
        _ name: String, _ field: Field<Duration>, in range: ClosedRange<Duration>, _ section: Section, _ help: String
    ) -> Setting {
        Setting(
            name: name, section: section, kind: .value(placeholder: "DURATION"), help: help,
            defaultText: DurationText.format(Configuration()[keyPath: field])
        ) { configuration, values throws(InvalidValue) in
            for value in values {
                let duration = try DurationText.parse(value)
                guard range.contains(duration) else {
                    let (least, most) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
                    throw InvalidValue(value, "must be a duration from \(least) to \(most)")
                }
                configuration[keyPath: field] = duration
            }
        }
    }

    static func boolean(_ name: String, _ field: Field<Bool>, _ section: Section, _ help: String) -> Setting {
        Setting(
            name: name, section: section, kind: .boolean, help: help,
            defaultText: Configuration()[keyPath: field] ? "on" : "off"
        ) { configuration, values throws(InvalidValue) in
            for value in values {
                switch value.lowercased() {
                case "1", "true", "yes", "on": configuration[keyPath: field] = true
                case "0", "false", "no", "off": configuration[keyPath: field] = false
                default: throw InvalidValue(value, "must be true or false")
                }
            }
        }
    }

    static func text(
        _ name: String, _ section: Section, placeholder: String, default text: String, _ help: String,
        _ apply: @escaping @Sendable (inout Configuration, String) throws(InvalidValue) -> Void
    ) -> Setting {
        Setting(
            name: name, section: section, kind: .value(placeholder: placeholder), help: help, defaultText: text
        ) { configuration, values throws(InvalidValue) in
            for value in values { try apply(&configuration, value) }
        }
    }
}

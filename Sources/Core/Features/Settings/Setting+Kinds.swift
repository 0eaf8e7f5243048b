/// The kinds of settings. Each reads its value, checks its range, and takes the default from `Values()`.
extension Setting {
    package static func integer(
        _ name: String, _ field: Field<Int>, in range: ClosedRange<Int>, _ section: SettingSection,
        default text: String? = nil,
        _ help: String
    ) -> Setting {
        Setting(
            name: name, section: section, kind: .value(placeholder: "N"), help: help,
            defaultText: text ?? String(Values()[keyPath: field])
        ) { settings, values throws(InvalidValue) in
            for value in values {
                guard let number = Int(value), range.contains(number), value.first?.isNumber == true else {
                    throw InvalidValue(
                        value, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
                }
                settings[keyPath: field] = number
            }
        }
    }

    package static func duration(
        _ name: String, _ field: Field<Duration>, in range: ClosedRange<Duration>, _ section: SettingSection,
        _ help: String
    ) -> Setting {
        Setting(
            name: name, section: section, kind: .value(placeholder: "DURATION"), help: help,
            defaultText: DurationText.format(Values()[keyPath: field])
        ) { settings, values throws(InvalidValue) in
            for value in values {
                let duration = try DurationText.parse(value)
                guard range.contains(duration) else {
                    let (least, most) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
                    throw InvalidValue(value, "must be a duration from \(least) to \(most)")
                }
                settings[keyPath: field] = duration
            }
        }
    }

    package static func boolean(_ name: String, _ field: Field<Bool>, _ section: SettingSection, _ help: String)
        -> Setting
    {
        Setting(
            name: name, section: section, kind: .boolean, help: help,
            defaultText: Values()[keyPath: field] ? "on" : "off"
        ) { settings, values throws(InvalidValue) in
            for value in values {
                switch value.lowercased() {
                case "1", "true", "yes", "on": settings[keyPath: field] = true
                case "0", "false", "no", "off": settings[keyPath: field] = false
                default: throw InvalidValue(value, "must be true or false")
                }
            }
        }
    }

    package static func text(
        _ name: String, _ section: SettingSection, placeholder: String, default text: String, _ help: String,
        _ apply: @escaping @Sendable (inout Values, String) throws(InvalidValue) -> Void
    ) -> Setting {
        Setting(
            name: name, section: section, kind: .value(placeholder: placeholder), help: help, defaultText: text
        ) { settings, values throws(InvalidValue) in
            for value in values { try apply(&settings, value) }
        }
    }
}

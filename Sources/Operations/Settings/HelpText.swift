package import Features

/// The text of `--help`, made from the table of settings.
package enum HelpText {
    package static func render(_ settings: [Setting<Configuration>] = SettingTable.all) -> String {
        var text = """
            Usage: letsswitchd [serve] [flags]
                   letsswitchd check [flags]
                   letsswitchd ticket DEVICE [--for 1h] [--topics TOPIC,…] [flags]
                   letsswitchd backup FILE [flags]
                   letsswitchd restore FILE [flags]
                   letsswitchd daemons|rooms|due|deliveries|sessions|conversations [flags]
                   letsswitchd connections [flags]
                   letsswitchd close ROOM [flags]
                   letsswitchd kick CONNECTION|DEVICE|ADDRESS [flags]
                   letsswitchd drain [--rate 100] [flags]
                   letsswitchd remind|export|erase DEVICE [flags]

            Pairs two people who start something at the same minute, reminds both, and opens a room for them.

              check              checks settings, certificate, database, providers and brokers, without serving
              ticket             prints a ticket that proves the device's identity, for a duration and for some topics
              backup             writes the private cluster's database to a file; a daemon may serve meanwhile
              restore            restores a backup file into an empty database, while no daemon serves
              daemons, …         show counts and times: a table on a terminal, otherwise JSON, one object per line
              connections        shows the connections of this daemon, without content
              close              closes a room early, for all its members, on all daemons of the database
              kick               ends one connection of this daemon, or all of a device or an address on all daemons
              drain              stops accepting connections to this daemon, and closes --rate existing ones per second
              remind             sends a test reminder to a device through each provider, and prints the results
              export             prints all stored data of a device: JSON, one object per line
              erase              deletes all data of a device, as DELETE /device does
              --help             prints this text
              --version          prints the versions of the daemon, Swift and libpq

            Every flag has an environment variable: --reminder-lead is LETSSWITCH_REMINDER_LEAD. A flag overrides its
            variable; an empty variable counts as not set. Durations are seconds (90), or 90s, 5m, 1h, 30d.

            """
        for section in SettingSection.allCases {
            text += "\n\(section.rawValue)\n"
            for setting in settings where setting.section == section { text += entry(setting) }
        }
        return text
    }

    private static func entry(_ setting: Setting<Configuration>) -> String {
        let synopsis =
            switch setting.kind {
            case .value(let placeholder), .values(let placeholder): "\(setting.flag) \(placeholder)"
            case .boolean: setting.flag
            }
        return "  \(synopsis)\n        \(setting.help) [\(setting.defaultText)]\n"
    }
}

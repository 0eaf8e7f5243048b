/// The text of `--help`, made from the table of settings.
package enum HelpText {
    package static func render(_ settings: [Setting] = Setting.all) -> String {
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

            Pairs two people who want to start something at the same minute, reminds both, and opens a room for them.

              check              says whether settings, certificate and key are all right, and serves nothing
              ticket             prints a ticket by which the device shows who it is: for how long, and for what alone
              backup             writes the private cluster's database into a file, also while a daemon serves
              restore            reads it from one, into a database that holds nothing, while no daemon serves
              daemons, …         show what there is, in counts and times: a table on a terminal, else JSON, a line each
              connections        shows who is connected to the daemon that runs here, and to it alone: no content
              close              ends a match's room before its time, for everybody, on all daemons of the database
              kick               ends a connection of the daemon here, or all of a device or of an address on all daemons
              drain              the daemon here takes no new connections, and lets go of the others, so many a second
              remind             sends a device a test reminder by every way that is set up, and says what became of it
              export             prints all that is stored of a device: JSON, an object a line
              erase              forgets a device for everybody, as DELETE /device does
              --help             this text
              --version          versions of the daemon, Swift and libpq

            Every flag has an environment variable: --reminder-lead is LETSSWITCH_REMINDER_LEAD. A flag wins over its
            variable; an empty variable counts as not set. Durations are seconds, or 90s, 5m, 1h, 30d.

            """
        for section in Setting.Section.allCases {
            text += "\n\(section.rawValue)\n"
            for setting in settings where setting.section == section { text += entry(setting) }
        }
        return text
    }

    private static func entry(_ setting: Setting) -> String {
        let synopsis =
            switch setting.kind {
            case .value(let placeholder), .values(let placeholder): "\(setting.flag) \(placeholder)"
            case .boolean: setting.flag
            }
        return "  \(synopsis)\n        \(setting.help) [\(setting.defaultText)]\n"
    }
}

/// SQL that gives a daemon's database a clock of its own. The clock runs with the machine's, ahead of it by a shift, or stands still.
package enum ShiftedClock {
    /// Installs a clock that runs and isn't ahead. A second installation changes nothing.
    package static let install = [
        "CREATE TABLE IF NOT EXISTS letsswitch.test_clock AS SELECT interval '0' AS shift, NULL::timestamptz AS stands_at",
        """
        CREATE OR REPLACE FUNCTION core.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS
        $$ SELECT coalesce(stands_at, clock_timestamp() + shift) FROM letsswitch.test_clock $$
        """,
    ]

    /// Stops the clock.
    package static let stop = "UPDATE letsswitch.test_clock SET stands_at = clock_timestamp() + shift"

    /// Lets a standing clock run from where it stands.
    package static let start = """
        UPDATE letsswitch.test_clock SET shift = stands_at - clock_timestamp(), stands_at = NULL WHERE stands_at IS NOT NULL
        """

    /// Sets the clock to an instant, in seconds since 1970. A running clock runs on from there.
    package static func advance(toSeconds seconds: Double) -> String {
        """
        UPDATE letsswitch.test_clock SET shift = to_timestamp(\(seconds)) - clock_timestamp(),
            stands_at = CASE WHEN stands_at IS NOT NULL THEN to_timestamp(\(seconds)) END
        """
    }

    /// Moves the clock forward, or back if the number is negative.
    package static func move(bySeconds seconds: Double) -> String {
        """
        UPDATE letsswitch.test_clock
        SET shift = shift + interval '\(seconds) s', stands_at = stands_at + interval '\(seconds) s'
        """
    }

    /// Sets how far a running clock is ahead of the machine's.
    package static func shift(bySeconds seconds: Int) -> String {
        "UPDATE letsswitch.test_clock SET shift = interval '\(seconds) s'"
    }
}

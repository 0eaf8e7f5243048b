/// SQL by which a daemon's database goes ahead of the machine's clock.
package enum ShiftedClock {
    /// Gives the database such a clock, which isn't ahead yet. Once more, it changes nothing.
    package static let install = [
        "CREATE TABLE IF NOT EXISTS letsswitch.test_clock AS SELECT interval '0' AS shift",
        """
        CREATE OR REPLACE FUNCTION letsswitch.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS
        $$ SELECT clock_timestamp() + (SELECT shift FROM letsswitch.test_clock) $$
        """,
    ]

    /// Puts it to an instant, in seconds since 1970, from where it runs on.
    package static func advance(toSeconds seconds: Double) -> String {
        "UPDATE letsswitch.test_clock SET shift = to_timestamp(\(seconds)) - clock_timestamp()"
    }

    /// Puts it so far ahead.
    package static func shift(bySeconds seconds: Int) -> String {
        "UPDATE letsswitch.test_clock SET shift = interval '\(seconds) s'"
    }
}

/// SQL that sets a database's clock ahead of the machine's.
package enum ShiftedClock {
    /// Gives the database a clock that can be advanced. It isn't ahead yet. A second run changes nothing.
    package static let install = [
        "CREATE TABLE IF NOT EXISTS letsswitch.test_clock AS SELECT interval '0' AS shift",
        """
        CREATE OR REPLACE FUNCTION letsswitch.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS
        $$ SELECT clock_timestamp() + (SELECT shift FROM letsswitch.test_clock) $$
        """,
    ]

    /// Sets the clock to an instant in seconds since 1970. It runs on from there.
    package static func advance(toSeconds seconds: Double) -> String {
        "UPDATE letsswitch.test_clock SET shift = to_timestamp(\(seconds)) - clock_timestamp()"
    }

    /// Sets the clock this many seconds ahead.
    package static func shift(bySeconds seconds: Int) -> String {
        "UPDATE letsswitch.test_clock SET shift = interval '\(seconds) s'"
    }
}

import FoundationEssentials
import Testing

@testable import Postgres

@Suite struct ParameterTests {
    @Test(
        "Values have the format that PostgreSQL reads",
        arguments: [
            (PostgresParameter.text("a"), "a"), (.integer(-3), "-3"), (.double(.infinity), "Infinity"),
            (.double(-.infinity), "-Infinity"), (.double(.nan), "NaN"), (.double(0.1), "0.1"), (.boolean(true), "t"),
            (.boolean(false), "f"), (.textArray([]), "{}"), (.textArray([nil, "", "NULL"]), #"{NULL,"","NULL"}"#),
            (.textArray([#"a"b\c"#, "{,}"]), #"{"a\"b\\c","{,}"}"#),
            (.textArray(["dé\u{1F389}"]), "{\"dé\u{1F389}\"}"),
            (.integerArray([]), "{}"), (.integerArray([0, -12, .max]), "{0,-12,9223372036854775807}"),
        ])
    func valuesHaveFormatThatPostgreSQLReads(parameter: PostgresParameter, literal: String) {
        var bytes: [UInt8] = []
        #expect(parameter.write(to: &bytes) == .text)
        #expect(String(decoding: bytes, as: UTF8.self) == literal)
    }

    // PostgreSQL's array_recv, uuid_recv, float8_recv and int4recv: src/backend/utils/adt.
    @Test(
        "Binary arrays have the format that PostgreSQL receives",
        arguments: [
            (PostgresParameter.uuidArray([]), "00000000 00000001 00000b86"),
            (
                .uuidArray([UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"), nil]),
                """
                00000001 00000001 00000b86 00000002 00000001
                00000010 f81d4fae7dec11d0a76500a0c91e6bf6 ffffffff
                """
            ),
            (.doubleArray([]), "00000000 00000001 000002bd"),
            (
                .doubleArray([1.5, -.infinity]),
                "00000001 00000001 000002bd 00000002 00000001 00000008 3ff8000000000000 00000008 fff0000000000000"
            ),
            (.int32Array([]), "00000000 00000001 00000017"),
            (
                .int32Array([3, -2]),
                "00000001 00000001 00000017 00000002 00000001 00000004 00000003 00000004 fffffffe"
            ),
        ])
    func binaryArrays(parameter: PostgresParameter, hexadecimal: String) {
        var bytes: [UInt8] = []
        #expect(parameter.write(to: &bytes) == .binary)
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(digits == hexadecimal.filter { !$0.isWhitespace })
    }

    @Test("Null has no text")
    func nullHasNoText() {
        var bytes: [UInt8] = []
        #expect(PostgresParameter.null.write(to: &bytes) == .null && bytes.isEmpty)
    }

    @Test(
        "Text with U+0000 is refused before anything is sent",
        arguments: [PostgresParameter.text("a\0b"), .textArray(["x", "\0"])])
    func textWithU0000IsRefusedBeforeAnythingIsSent(parameter: PostgresParameter) {
        let error = #expect(throws: PostgresError.self) { try EncodedParameters([.null, parameter]) }
        #expect(error?.kind == .invalidParameter)
        #expect(error?.message.contains("$2") == true)
    }

    @Test("Descriptions contain no values")
    func descriptionsKeepValuesOutOfTheLog() {
        let error = PostgresError(kind: .server(sqlState: "22P02"), message: #"invalid input syntax: "secret""#)
        #expect(!error.description.contains("secret"))
        #expect(error.description.contains("22P02"))
    }

    @Test(
        "SQLSTATEs map to errors that callers can act on",
        arguments: [
            ("25006" as String?, "ERROR", PostgresError.Kind.refused(sqlState: "25006")),
            ("53300", "ERROR", .refused(sqlState: "53300")),
            ("53100", "ERROR", .refused(sqlState: "53100")),
            ("XX000", "ERROR", .refused(sqlState: "XX000")),
            ("57014", "ERROR", .unavailable(outcomeUnknown: false)),
            ("57P01", "FATAL", .unavailable(outcomeUnknown: true)),
            ("08006", "ERROR", .unavailable(outcomeUnknown: true)),
            ("23505", "ERROR", .server(sqlState: "23505")),
            (nil, "ERROR", .unavailable(outcomeUnknown: true)),
        ])
    func sqlStatesMeanWhatCallersCanActOn(state: String?, severity: String, kind: PostgresError.Kind) {
        #expect(PostgresError.kind(sqlState: state, severity: severity) == kind)
    }
}

import Testing

@testable import letsswitch_bench

@Suite struct OptionsTests {
    @Test("Without arguments all workloads run, with the daemon of the same directory")
    func defaults() throws {
        let options = try Options([])
        #expect(options.command == .table)
        #expect(options.daemon.hasSuffix("/letsswitchd"))
        #expect(options.wants("ale-2") && options.wantsSome(of: "loops"))
    }

    @Test("A value follows its flag or an equals sign")
    func values() throws {
        let options = try Options(["hour", "--rounds", "3", "--seconds=0.5", "--only", "ale,loops-ale", "--json=x"])
        #expect(options.command == .hour && options.rounds == 3 && options.seconds == 0.5 && options.json == "x")
        #expect(options.wants("ale-100") && !options.wants("burst-10"))
        #expect(options.wantsSome(of: "loops") && !options.wantsSome(of: "growth"))
    }

    @Test(
        "Invalid options are refused",
        arguments: [["--rounds", "0"], ["--rounds"], ["--seconds=x"], ["dance"], ["--fast"]])
    func refused(arguments: [String]) {
        #expect(throws: BenchFailure.self) { try Options(arguments) }
    }
}

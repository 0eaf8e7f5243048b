import Glibc
import Testing

@testable import LetsSwitch

@Suite struct ControllingTerminalTests {
    @Test("a terminal is gone when nobody holds its other end; what is no terminal never is")
    func gone() throws {
        let master = posix_openpt(O_RDWR | O_NOCTTY)
        try #require(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
        let name = try #require(ptsname(master).map { String(cString: $0) })
        let slave = open(name, O_RDWR | O_NOCTTY)
        try #require(slave >= 0)
        var pipe: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { for descriptor in [slave] + pipe { close(descriptor) } }
        let terminal = ControllingTerminal(among: [pipe[0], slave])
        let none = ControllingTerminal(among: pipe)
        #expect(!terminal.isGone)
        close(master)
        #expect(terminal.isGone)
        #expect(!none.isGone)
    }
}

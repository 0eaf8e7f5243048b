import Glibc
import Testing

@testable import LetsSwitch

@Suite struct ControllingTerminalTests {
    // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2). Swift doesn't import these macros.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    @Test("Only a terminal whose other end is closed counts as gone")
    func gone() throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (locked, number) = (Int32(0), UInt32(0))
        try #require(master >= 0 && ioctl(master, Self.setLock, &locked) == 0)
        try #require(ioctl(master, Self.getNumber, &number) == 0)
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
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

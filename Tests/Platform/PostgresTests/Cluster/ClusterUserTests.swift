import Glibc
import Testing

@testable import Postgres

@Suite struct ClusterUserTests {
    @Test("A user without a name gets the reason before any file is created")
    func nameless() throws {
        let nobody: UInt32 = 4_000_000_000
        let error = try #require(throws: PrivateClusterError.self) {
            try ClusterUser(name: "\(nobody)", uid: nobody, gid: nobody).requireName()
        }
        #expect("\(error)".contains("\(nobody)") && "\(error)".contains("libnss-systemd"))
        try ClusterUser.choose(ownerOfData: nil, ownerOfState: nil).requireName()
    }
}

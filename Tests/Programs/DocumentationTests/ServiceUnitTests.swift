import Testing

/// The rights that the service unit takes from the daemon.
@Suite struct ServiceUnitTests {
    @Test("The packaged service has only the rights that it needs")
    func hardening() throws {
        let unit = try #require(
            try PageTree.repository().read("Sources/Programs/letsswitchd/systemd/letsswitchd.service"))
        let lines = Set(unit.split(separator: "\n").map(String.init))
        for line in [
            "User=letsswitch", "UMask=0077", "NoNewPrivileges=yes", "MemoryDenyWriteExecute=yes",
            "ProtectSystem=strict",
            "ProtectHome=yes", "PrivateDevices=yes", "SystemCallFilter=@system-service",
            "SystemCallFilter=~@privileged @resources", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE",
            "StateDirectoryMode=0700",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        for name in ["MemoryMax", "TasksMax", "LimitNOFILE"] {
            #expect(lines.contains { $0.hasPrefix("\(name)=") }, "\(name)")
        }
    }
}

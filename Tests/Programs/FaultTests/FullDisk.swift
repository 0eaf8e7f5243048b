import Domain
import Foundation
import Glibc
import JourneyTestSupport
import Postgres
import ScheduleTestSupport
import TestSupport

@testable import Schedule

/// Takes all free space of the schedule's tables, and returns it later. Uses a small file system, or if mounting isn't
/// allowed, a limit on the size of files, for which PostgreSQL has no error code of its own.
struct FullDisk {
    private let disk: SmallDisk?
    private let cluster: TestCluster
    private let journey: Journey

    /// Prepares the disk before a daemon runs. With `byLimit`, always uses the limit.
    init(of cluster: TestCluster, _ journey: Journey, byLimit: Bool) async throws {
        self.cluster = cluster
        self.journey = journey
        guard !byLimit, SmallDisk.isPossible else {
            disk = nil
            // Makes the table larger than a segment of the log, because the log must still be written under the limit.
            try await journey.sql(
                """
                INSERT INTO schedule.task
                    (id, device_id, title, starts_at, reminds_at, time_zone, start_time, room_id, closes_at)
                SELECT gen_random_uuid(), 'past-' || n, repeat('x', 200), at, at, 'UTC', '00:00', gen_random_uuid(), at
                FROM generate_series(1, 60000) AS n, LATERAL (SELECT now() - interval '1 day' AS at) AS past
                """)
            return
        }
        let disk = try SmallDisk(of: cluster)
        self.disk = disk
        try await journey.administer(
            """
            CREATE TABLESPACE small LOCATION '\(disk.tablespace)';
            ALTER TABLE ALL IN TABLESPACE pg_default SET TABLESPACE small;
            ALTER INDEX ALL IN TABLESPACE pg_default SET TABLESPACE small
            """)
    }

    /// Returns when no space is left for a registration with a long title.
    func fill() async throws {
        if let disk {
            try disk.fill()
        } else {
            let size = try await journey.sql("SELECT pg_relation_size('schedule.task') AS n")[0].integer("n")
            try await limitFiles(to: "\(size)")
        }
        // Uses up the free space inside the tables first. The indexes have free space longer than the rows, and a match
        // needs more of it than a single task. A refused row may leave its space for the next one, so this repeats many
        // refusals. No row may be longer than the ones that the test registers later.
        let start = try await journey.instant(in: 86_400)
        let store = ScheduleStore(database: journey.client, settings: ScheduleSettings(reminderLead: 60))
        for (step, name) in [(0, "f"), (1, "g")] {
            var refusals = 0
            for number in 0..<4000 where refusals < 30 {
                let slot = Instant(seconds: start.seconds + step * number)
                let request = try ScheduleDatabase.request(
                    "\(name)\(number)", "\(slot)", String(repeating: "x", count: 190), zone: "UTC")
                do {
                    _ = try await store.register(request)
                    refusals = 0
                } catch {
                    refusals += 1
                }
            }
            guard refusals == 30 else { throw ClientFailure.violation("the disk doesn't become full") }
        }
    }

    func free() async throws {
        if let disk { return disk.free() }
        try await limitFiles(to: "unlimited")
    }

    /// Removes the disk after the cluster has stopped.
    func remove() {
        disk?.unmount()
    }

    /// Sets the limit for the server and all its processes, current and later ones.
    private func limitFiles(to size: String) async throws {
        guard let postmaster = await cluster.processIdentifier() else { throw ClientFailure.misuse("no server") }
        let children = try String(
            contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
        var data = stat()
        guard stat(cluster.stateDirectory + "/postgres/data", &data) == 0 else {
            throw ClientFailure.system(call: "stat", code: errno)
        }
        // Only the same user may limit a process; root in a container may not. The hard limit stays.
        let asUser =
            geteuid() == data.st_uid
            ? [] : ["/usr/bin/setpriv", "--reuid=\(data.st_uid)", "--regid=\(data.st_gid)", "--clear-groups"]
        for pid in ["\(postmaster)"] + children.split(separator: " ").map(String.init) {
            let command = asUser + ["/usr/bin/prlimit", "--pid", pid, "--fsize=\(size):"]
            let process = Process()
            process.executableURL = URL(fileURLWithPath: command[0])
            process.arguments = Array(command.dropFirst())
            process.standardError = FileHandle.nullDevice
            try process.run()
            // A process that has just ended can't be limited, which is no error.
            process.waitUntilExit()
        }
    }
}

import Foundation

/// Rails' own Action Cable server with a room like ours, for comparison.
package struct RailsServer: Sendable {
    private static let puma = "/usr/bin/puma"
    private static let gem = "/usr/share/rubygems-integration/all/specifications/actioncable-6.1.7.10.gemspec"

    package static let isInstalled =
        FileManager.default.fileExists(atPath: puma) && FileManager.default.fileExists(atPath: gem)
    package static let hint = "puma or Rails' actioncable is missing: make setup-interop"

    package let endpoint: ClientEndpoint
    package let port: UInt16
    private let process: ChildProcess

    package static func start(port: UInt16? = nil) async throws -> RailsServer {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("rails-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = directory.appendingPathComponent("config.ru")
        try Data(application.utf8).write(to: file)
        let port = try port ?? FreePort.find()
        let process = try await ChildProcess.start(
            puma, ["-b", "tcp://127.0.0.1:\(port)", "-t", "1:4", "-e", "production", file.path],
            environment: DaemonProcess.cleanEnvironment())
        let listens = try await process.lines.next("Puma listens", within: Deadline.standard) {
            $0.text.contains("Use Ctrl-C to stop")
        }
        guard !listens.text.isEmpty, let endpoint = ClientEndpoint("127.0.0.1:\(port)") else {
            throw ClientFailure.violation("Puma said \(process.lines.all.map(\.text))")
        }
        // Rails has read the files by now.
        try FileManager.default.removeItem(at: directory)
        return RailsServer(endpoint: endpoint, port: port, process: process)
    }

    package func stop() async throws {
        await process.signal(SIGKILL)
        _ = try await process.waitForExit()
    }

    private static let application = #"""
        # Rails' own server of Action Cable, without Rails: a room like ours, for the tests to compare.
        require "action_cable"
        require "active_support/all"

        class RoomChannel < ActionCable::Channel::Base
          def subscribed
            return reject unless params[:id].to_s.match?(/\A\h{8}-(\h{4}-){3}\h{12}\z/)
            stream_from "room:#{params[:id]}", coder: ActiveSupport::JSON do |message|
              transmit(message["content"]) unless message["from"] == connection.object_id
            end
          end

          def ale
            ActionCable.server.broadcast("room:#{params[:id]}", { from: connection.object_id, content: { type: "aleResponse", data: {} } })
          end
        end

        class NotificationsChannel < ActionCable::Channel::Base
          def subscribed
            stream_from "notifications"
          end

          def schedule
            ActionCable.server.broadcast("notifications", { type: "schedule", data: { startsAt: Time.now.utc.iso8601 } })
          end
        end

        class CableConnection < ActionCable::Connection::Base
        end

        server = ActionCable.server
        server.config.connection_class = -> { CableConnection }
        server.config.cable = { "adapter" => "async" }
        server.config.disable_request_forgery_protection = true
        server.config.logger = Logger.new(File::NULL)
        server.config.worker_pool_size = 1

        run ->(env) { server.call(env) }
        """#
}

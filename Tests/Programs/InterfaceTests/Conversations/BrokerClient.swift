import Foundation
import JourneyTestSupport
import TestSupport

/// A client of the broker with an independent library. It declares `conv`, declares and binds its queue, publishes and
/// consumes.
struct BrokerClient {
    enum Library: String, CaseIterable {
        case pika, bunny

        private var interpreter: String {
            switch self {
            case .pika: "/usr/bin/python3"
            case .bunny: "/usr/bin/ruby"
            }
        }

        /// The program reads and writes one line of JSON at a time. The first line has the user, and the others have
        /// commands.
        private var program: String {
            switch self {
            case .pika:
                """
                import json, sys, pika
                given = json.loads(sys.stdin.readline())
                parameters = pika.URLParameters(given["url"])
                parameters.heartbeat = 0
                channel = pika.BlockingConnection(parameters).channel()
                channel.exchange_declare(exchange="conv", exchange_type="topic")
                queue = given["user"] + ".conv"
                channel.queue_declare(queue=queue)
                channel.queue_bind(queue=queue, exchange="conv", routing_key="#." + given["user"] + ".#")
                channel.confirm_delivery()
                print(json.dumps({"ready": True}), flush=True)
                for line in sys.stdin:
                    task = json.loads(line)
                    if "key" in task:
                        # 2: a queue that is durable keeps it on disk.
                        properties = pika.BasicProperties(delivery_mode=2, app_id=task.get("app"))
                        channel.basic_publish("conv", task["key"], task["body"].encode(), properties)
                        print(json.dumps({"published": True}), flush=True)
                    else:
                        received = []
                        for method, properties, body in channel.consume(queue, auto_ack=True):
                            received.append({"key": method.routing_key, "id": properties.message_id,
                                          "app": properties.app_id, "body": json.loads(body)})
                            if len(received) == task["count"]: break
                        print(json.dumps({"received": received}), flush=True)
                """
            case .bunny:
                """
                require "bunny"
                require "json"
                given = JSON.parse(STDIN.gets)
                connection = Bunny.new(given["url"], automatically_recover: false)
                connection.start
                channel = connection.create_channel
                exchange = channel.topic("conv")
                queue = channel.queue(given["user"] + ".conv").bind(exchange, routing_key: "#." + given["user"] + ".#")
                came = Queue.new
                queue.subscribe { |info, properties, body| came << [info, properties, body] }
                STDOUT.sync = true
                puts JSON.generate({ready: true})
                while line = STDIN.gets
                  task = JSON.parse(line)
                  if task["key"]
                    exchange.publish(task["body"], routing_key: task["key"], app_id: task["app"])
                    puts JSON.generate({published: true})
                  else
                    received = (1..task["count"]).map do
                      info, properties, body = came.pop
                      {key: info.routing_key, id: properties[:message_id], app: properties[:app_id], body: JSON.parse(body)}
                    end
                    puts JSON.generate({received: received})
                  end
                end
                """
            }
        }

        var isInstalled: Bool {
            switch self {
            case .pika: FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/pika")
            case .bunny:
                (try? FileManager.default.contentsOfDirectory(atPath: "/usr/share/rubygems-integration/all/gems"))?
                    .contains { $0.hasPrefix("bunny-") } == true
            }
        }

        fileprivate func start() async throws -> ChildProcess {
            try await ChildProcess.start(
                interpreter, self == .pika ? ["-u", "-c", program] : ["-e", program],
                environment: DaemonProcess.cleanEnvironment().filter { !$0.key.hasPrefix("PYTHON") }, converses: true)
        }
    }

    private let process: ChildProcess
    private let conversation: RawConnection

    /// The queue is bound when this returns.
    init(_ library: Library, _ user: String, _ url: String) async throws {
        process = try await library.start()
        guard let conversation = process.conversation else { throw ClientFailure.misuse("no conversation") }
        self.conversation = conversation
        // RabbitMQ's specification says that an empty path is a virtual host without a name.
        _ = try await ask(["url": .string(url + "%2F"), "user": .string(user)])
    }

    private func ask(_ task: TestJSON) async throws -> TestJSON {
        do {
            try await conversation.send(try task.encoded() + [0x0A])
            return try TestJSON(parsing: try await conversation.receiveUntil("\n", limit: 1 << 20))
        } catch {
            throw ClientFailure.violation("\(error); it said \(process.lines.all.map(\.text).suffix(20))")
        }
    }

    /// Returns the next messages of its queue.
    func receive(_ count: Int) async throws -> [TestJSON] {
        try await ask(["count": .number(Double(count))])["received"].array ?? []
    }

    /// Publishes in the format of the original clients, with a date from 2001.
    func send(
        _ author: String, _ content: String, to key: String, in conversation: UUID, id: UUID = UUID(),
        app: String? = nil
    ) async throws {
        let body: TestJSON = [
            "id": .string(id.uuidString), "content": .string(content), "author": .string(author),
            "date": 817_030_800.5, "conversation": .string(conversation.uuidString),
        ]
        try await publish(String(decoding: try body.encoded(), as: UTF8.self), to: key, app: app)
    }

    func publish(_ body: String, to key: String, app: String? = nil) async throws {
        var task: [String: TestJSON] = ["key": .string(key), "body": .string(body)]
        if let app { task["app"] = .string(app) }
        _ = try await ask(.object(task))
    }

    func end() async { await process.signal(SIGKILL) }
}

import Testing

@testable import AMQP

@Suite struct AMQPURLTests {
    @Test("Missing parts are RabbitMQ's defaults")
    func defaults() throws {
        let url = try AMQPURL("amqp://broker.test")
        #expect((url.user, url.password, url.host) == ("guest", "guest", "broker.test"))
        #expect((url.port, url.virtualHost, url.usesTLS) == (5672, "/", false))
        #expect(try AMQPURL("amqps://broker.test/").port == 5671)
        #expect(try AMQPURL("amqps://broker.test").usesTLS)
    }

    @Test("Every part is parsed and percent-decoded")
    func parts() throws {
        let url = try AMQPURL("amqp://an%40na:p%3Aa:ss%2F@[::1]:1234/a%2Fb")
        #expect((url.user, url.password, url.host) == ("an@na", "p:a:ss/", "::1"))
        #expect((url.port, url.virtualHost) == (1234, "a/b"))
        #expect(try AMQPURL("amqp://h/%2F").virtualHost == "/")
        #expect(try AMQPURL("amqp://h/").virtualHost == "/")
        #expect(try AMQPURL("amqp://anna@h").password == "")
    }

    @Test("No description contains the password")
    func secrecy() throws {
        #expect("\(try AMQPURL("amqp://anna:secret@h:1/v"))" == "amqp://anna@h:1/v")
        #expect("\(try AMQPURL("amqps://anna:secret@[::1]"))" == "amqps://anna@[::1]:5671/")
    }

    @Test(
        "An invalid URL is refused without being repeated",
        arguments: [
            "", "http://secret@h", "amqp:/secret@h", "amqp://", "amqp://u:secret@", "amqp://u:secret@h:0",
            "amqp://u:secret@h:65536", "amqp://u:secret@h:x", "amqp://u:secret@h:", "amqp://u:secret%@h",
            "amqp://u:secret%zz@h", "amqp://u:secret%00@h", "amqp://u:secret%ff@h", "amqp://u:secret@[::1",
            "amqp://u:secret@[::1]x", "amqp://u:secret@h/v?x=secret", "amqp://u:secret@h/v#secret",
            "amqp://u:secret @h", "amqp://u:secret@h/" + String(repeating: "v", count: 256),
        ])
    func refused(text: String) {
        let error = #expect(throws: AMQPURLError.self) { try AMQPURL(text) }
        #expect(error?.message.contains("secret") == false)
        #expect(error?.message.isEmpty == false)
    }
}

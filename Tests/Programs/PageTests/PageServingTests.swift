import Foundation
import TestSupport
import Testing

/// How the page is served to a client that isn't a browser.
@Suite struct PageServingTests {
    @Test("The document is compressed, and revalidated by its ETag")
    func document() async throws {
        try await PageWorld.run { world in
            let plain = try await world.get("/")
            #expect(plain.status == 200 && plain.headers["Content-Encoding"] == nil)
            #expect(plain.headers["Content-Type"] == "text/html; charset=utf-8")
            #expect(plain.headers["Cache-Control"] == "no-cache" && plain.headers["Vary"] == "Accept-Encoding")
            #expect(plain.text.hasPrefix("<!doctype html>") && plain.text.contains("<style>"))
            #expect(plain.text.contains("data-lead=\"60.0\"") && !plain.text.contains("rel=\"stylesheet\""))

            let small = try await world.get("/", ["Accept-Encoding": "gzip, deflate, br"])
            #expect(small.headers["Content-Encoding"] == "gzip" && small.body.starts(with: [0x1F, 0x8B]))
            // TCP's first flight of ten segments of 1,460 bytes holds this, so the document takes one round trip.
            #expect(small.body.count < 13_000)
            #expect(small.headers["ETag"] != plain.headers["ETag"])
            for response in [plain, small] {
                var fields: TestHeaders = response == small ? ["Accept-Encoding": "gzip"] : [:]
                fields.append("If-None-Match", "\"other\", W/\(response.headers["ETag"] ?? "")")
                let again = try await world.get("/", fields)
                #expect(again.status == 304 && again.body.isEmpty && again.headers["ETag"] == response.headers["ETag"])
                #expect(again.headers["Vary"] == "Accept-Encoding" && again.headers["Content-Encoding"] == nil)
            }
            let stale = try await world.get("/", ["If-None-Match": "\"other\""])
            #expect(stale.status == 200 && stale.body == plain.body)
            let refusing = try await world.get("/", ["Accept-Encoding": "gzip;q=0"])
            #expect(refusing.body == plain.body)
        }
    }

    @Test("HEAD has the fields of GET")
    func otherRequests() async throws {
        try await PageWorld.run { world in
            for target in ["/", "/page/app.js", "/page/icon.png"] {
                let get = try await world.get(target)
                let head = try await HTTPTestClient.request(at: world.endpoint, "HEAD", target)
                #expect(head.status == 200 && head.body.isEmpty)
                for name in ["Content-Length", "Content-Type", "ETag", "Content-Security-Policy"] {
                    #expect(head.headers[name] == get.headers[name] && get.headers[name] != nil)
                }
            }
            for target in ["/page", "/page/", "/page/nothing.js", "/page/../app.js", "/page/page.css", "/index.html"] {
                let response = try await world.get(target)
                #expect(response.status == 404)
                #expect(try response.json()["code"] == "not_found")
            }
            let post = try await HTTPTestClient.request(at: world.endpoint, "POST", "/", body: [])
            #expect(post.status == 405 && post.headers["Allow"] == "GET, HEAD, OPTIONS")
        }
    }

    @Test("Every file has a strict policy and its content type")
    func files() async throws {
        try await PageWorld.run { world in
            var targets: Set = ["/", "/page/worker.js"]
            var transferred = 0
            var seen: Set<String> = []
            while let target = targets.subtracting(seen).first {
                seen.insert(target)
                let response = try await world.get(target, ["Accept-Encoding": "gzip"])
                #expect(response.status == 200, "\(target)")
                #expect(response.headers["X-Content-Type-Options"] == "nosniff")
                #expect(response.headers["Referrer-Policy"] == "no-referrer")
                let policy = response.headers["Content-Security-Policy"] ?? ""
                #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe"))
                #expect((response.headers["Service-Worker-Allowed"] == "/") == (target == "/page/worker.js"))
                transferred += response.body.count
                // Every file that the page or its manifest names must exist.
                let text = try await world.get(target).text
                for match in text.matches(of: /"(\/page\/[a-z.]+)"/) { targets.insert(String(match.1)) }
                for match in text.matches(of: /from '\.(\/[a-z]+\.js)'/) { targets.insert("/page\(match.1)") }
            }
            #expect(seen.count > 20)
            #expect(transferred < 60_000)
            // The worker is one script without imports, and lists all files of the page.
            let worker = try await world.get("/page/worker.js").text
            #expect(!worker.contains("import ") && !worker.contains("export ") && worker.contains("const noticeOf ="))
            let kept = Set(worker.matches(of: /'(\/(?:page\/[a-z.]+)?)'/).map { String($0.1) })
            #expect(kept.isSuperset(of: seen.subtracting(["/page/worker.js"])))
            #expect(worker.contains(/const BUILD = '[A-Za-z0-9_-]{16}'/))
        }
    }
}

extension PageWorld {
    fileprivate func get(_ target: String, _ headers: TestHeaders = [:]) async throws -> TestResponse {
        try await HTTPTestClient.request(at: endpoint, "GET", target, headers: headers)
    }
}

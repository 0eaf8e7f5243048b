import TestSupport
import Testing

/// The service worker's script with caches and a network of the test's own.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageWorkerTests {
    /// Runs a script beside the worker's and returns the script's value. In it `happen` dispatches an event to the worker and returns what the
    /// worker answers, and `whole` and `broken` are responses whose content comes whole or breaks off.
    private static func run(caches: String, fetch: String, _ script: String) async throws -> TestJSON {
        var value: TestJSON = .absent
        try await PageWorld.run { world in
            let source = try await HTTPTestClient.request(at: world.endpoint, "GET", "/page/worker.js").text
            let page = try await BrowserPage.open()
            try await page.navigate(to: world.address + "healthz")
            try await page.wait(until: "location.pathname === '/healthz' && document.readyState === 'complete'")
            value = try await page.evaluate(
                """
                (async () => {
                    const handlers = {}, shown = []
                    const whole = { ok: true, clone: () => ({ arrayBuffer: async () => {} }) }
                    const broken = { ok: true, clone: () => ({ arrayBuffer: async () => { throw new Error('It broke off.') } }) }
                    const caches = \(caches), fetch = \(fetch)
                    const registration = { showNotification: async (...what) => shown.push(what) }
                    ;((addEventListener, registration) => { \(source) })((name, work) => handlers[name] = work, registration)
                    const happen = async (name, event = {}) => {
                        let outcome = 'nothing'
                        const take = promise => outcome = promise
                        handlers[name]({ waitUntil: take, respondWith: take, ...event })
                        return await outcome
                    }
                    const ask = path => happen('fetch', { request: { method: 'GET', url: location.origin + path } })
                    \(script)
                })()
                """)
            try await page.close()
        }
        return value
    }

    @Test("A full cache breaks neither the worker nor a response")
    func fullStorage() async throws {
        let seen = try await Self.run(
            caches: """
                {
                    open: async () => ({ put: async () => { throw new DOMException('full', 'QuotaExceededError') } }),
                    delete: async () => true, match: async () => { throw new DOMException('no', 'SecurityError') },
                }
                """,
            fetch: "async path => ({ ...whole, path })",
            "await happen('install'); return (await ask('/page/app.js')).path")
        #expect(seen == "/page/app.js")
    }

    @Test("An incomplete page isn't cached")
    func incomplete() async throws {
        let seen = try await Self.run(
            caches: "{ open: async () => { throw new Error('opened') } }",
            fetch: "async path => ({ ...whole, ok: path !== '/page/app.js' })",
            "return await happen('install').then(() => 'taken', error => error.message)")
        #expect(seen == "The page could not be loaded completely.")
    }

    @Test("A file that is cut off ends the installation")
    func brokenFile() async throws {
        let seen = try await Self.run(
            caches: "{ open: async () => { throw new Error('opened') } }",
            fetch: "async path => path === '/page/app.js' ? broken : whole",
            "return await happen('install').then(() => 'installed', error => error.message)")
        #expect(seen == "It broke off.")
    }

    @Test(
        "A page of conversations that can't be cached leaves the older copy",
        arguments: [
            // The download breaks off.
            (isKept: false, answer: "broken", isFull: false, names: [], deleted: []),
            (isKept: true, answer: "broken", isFull: false, names: [], deleted: []),
            // The storage is full.
            (isKept: false, answer: "whole", isFull: true, names: ["/conversations"], deleted: ["/conversations"]),
            (isKept: true, answer: "whole", isFull: true, names: ["/conversations"], deleted: []),
        ] as [(Bool, String, Bool, TestJSON, TestJSON)])
    func unkeptConversations(
        _ isKept: Bool, _ answer: String, _ isFull: Bool, _ opened: TestJSON, _ deleted: TestJSON
    ) async throws {
        let seen = try await Self.run(
            caches: """
                {
                    open: async name => {
                        opened.push(name)
                        return {
                            put: async () => { if (\(isFull)) throw new DOMException('full', 'QuotaExceededError') },
                            match: async () => \(isKept) ? 'an older copy' : undefined,
                        }
                    },
                    delete: async name => deleted.push(name),
                }
                """,
            fetch: "async () => \(answer)",
            "var opened = [], deleted = []; await happen('message', { data: 'keep' }); return [opened, deleted]")
        #expect(seen == .array([opened, deleted]))
    }

    @Test("Only files of this build are cached")
    func answers() async throws {
        let seen = try await Self.run(
            caches: "{ match: async (path, { cacheName }) => cacheName.length > 10 ? 'kept ' + path : undefined }",
            fetch: "async () => { throw new Error('asked') }",
            "return [await ask('/'), await ask('/page/words.js'), await ask('/schedule'), await ask('/page/worker.js')]"
        )
        #expect(seen == ["kept /", "kept /page/words.js", "nothing", "nothing"])
    }

    @Test("The page of conversations is cached on request")
    func conversations() async throws {
        let seen = try await Self.run(
            caches: """
                {
                    open: async name => ({ put: async (path, answer) => { kept = [name, path, answer.path] } }),
                    match: async (path, { cacheName }) => kept && cacheName === kept[0] ? 'kept ' + path : undefined,
                    keys: async () => ['page old', '/conversations'], delete: async name => deleted.push(name),
                }
                """,
            fetch: "async path => ({ ...whole, path })",
            """
            var kept, deleted = []
            globalThis.clients = { claim: async () => {} }
            await happen('message', { data: 'keep' })
            await happen('activate')
            return [kept, deleted, await ask('/conversations'), await ask('/conversations?deviceId=ada')]
            """)
        #expect(
            seen == [
                ["/conversations", "/conversations", "/conversations"], ["page old"], "kept /conversations", "nothing",
            ])
    }

    @Test("A push that can't be read is shown anyway")
    func garbledPush() async throws {
        let seen = try await Self.run(
            caches: "{}", fetch: "null",
            "await happen('push', { data: { json: () => JSON.parse('?') } }); return shown.map(([title]) => title)")
        #expect(seen == ["Let’s Switch"])
    }

    @Test("A push of messages shows their texts, and a tap opens the conversation")
    func messages() async throws {
        let seen = try await Self.run(
            caches: "{}", fetch: "null",
            """
            const push = data => happen('push', { data: { json: () => data } })
            const message = { type: 'messages', conversation: 'C', authors: ['user1'], count: 1 }
            await push({ ...message, messages: [{ author: 'user1', content: '<b>Tea?' }] })
            await push({ ...message, authors: ['user1', 'user2', 'user3'], count: 9,
                messages: [{ author: 'user2', content: 'Yes\\nuser1: No' }, { author: 'user3', content: 'No' }] })
            const visited = []
            const tap = async windows => {
                globalThis.clients = {
                    matchAll: async () => windows, openWindow: async target => visited.push('opened ' + target),
                }
                await happen('notificationclick', { notification: { close() {}, data: shown[0][1].data } })
            }
            await tap([{ url: location.origin + '/' }])
            await tap([{
                url: location.origin + '/conversations#D', focus: async () => {},
                navigate: async target => visited.push('led to ' + target),
            }])
            return [shown.map(([title, { body }]) => [title, body]), visited]
            """)
        #expect(
            seen == [
                [["user1", "<b>Tea?"], ["user1, user2 and 1 more", "7 more\nuser2: Yes user1: No\nuser3: No"]],
                ["opened /conversations#C", "led to /conversations#C"],
            ])
    }
}

import Testing

@testable import Wire

@Suite struct FormTextTests {
    @Test("The first field of each name is found and decoded")
    func fields() throws {
        let form = try #require(FormText(Array("a=1&b=caf%C3%A9+%26+tea&&a=2&c&=x&d=1=2&%C3%A9=y".utf8)))
        for (name, value) in [
            ("a", "1"), ("b", "café & tea"), ("c", ""), ("", "x"), ("d", "1=2"), ("é", "y"), ("e", nil),
            ("e\u{301}", nil),
        ] {
            #expect(form[name] == value, "\(name)")
        }
        #expect(try #require(FormText([]))["a"] == nil)
    }

    @Test(
        "Invalid escapes, NUL and invalid UTF-8 make a form invalid",
        arguments: ["a=%", "a=%4", "%zz", "a=%00", "a=%FF"])
    func wrong(text: String) {
        #expect(FormText(Array(text.utf8)) == nil)
        #expect(FormText([0x61, 0x3D, 0xFF]) == nil)
    }
}

import TestSupport
import Testing

@Suite struct SchemaCheckTests {
    private static let schema: TestJSON = [
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A room",
        "anyOf": [["$ref": "#/$defs/server"], ["$ref": "#/$defs/client"]],
        "$defs": [
            "server": [
                "anyOf": [
                    ["type": "object", "required": ["type"], "properties": ["type": ["enum": ["hello"]]]],
                    [
                        "type": "object", "required": ["type", "count"],
                        "properties": [
                            "type": ["enum": ["presence"]], "count": ["type": "integer", "minimum": 0],
                            "share": ["type": "number", "maximum": 1],
                            "names": [
                                "type": "array", "maxItems": 2,
                                "items": ["type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[a-z]+$"],
                            ],
                            "offsets": ["type": "object", "additionalProperties": ["type": "integer"]],
                            "isOpen": ["type": "boolean"], "more": ["description": "Whatever it is."],
                        ],
                    ],
                ]
            ],
            "client": [
                "type": "object",
                "properties": [
                    "id": ["type": "string", "format": "uuid"], "at": ["type": "string", "format": "date-time"],
                    "on": ["type": "string", "format": "date"], "url": ["type": "string", "format": "uri"],
                ],
            ],
        ],
    ]

    @Test(
        "A described value passes",
        arguments: [
            #"{"type":"hello"}"#,
            #"{"type":"presence","count":0,"share":0.5,"names":["ada","bob"],"offsets":{"a":1},"isOpen":true,"more":[null]}"#,
        ]) func passes(_ text: String) throws
    {
        let value = try TestJSON(parsing: Array(text.utf8))
        #expect(try SchemaCheck(Self.schema).violation(about: value, as: "server") == nil)
        #expect(try SchemaCheck(Self.schema).violation(about: value) == nil)
    }

    @Test(
        "An error is explained",
        arguments: [
            (#"[]"#, "it is no object"), (#"{"type":"bye"}"#, "it is none of what it may be"),
            (#"{"type":"presence"}"#, "it has no count"),
            (#"{"type":"hello","x":1}"#, "it has x, which isn't described"),
            (#"{"type":"presence","count":-1}"#, "/count isn't within 0.0...inf"),
            (#"{"type":"presence","count":1.5}"#, "/count is no integer"),
            (#"{"type":"presence","count":"1"}"#, "/count is no number"),
            (#"{"type":"presence","count":1,"share":2}"#, "/share isn't within -inf...1.0"),
            (#"{"type":"presence","count":1,"names":["a","b","c"]}"#, "/names has 3 elements, 2 at most"),
            (#"{"type":"presence","count":1,"names":["a",""]}"#, "/names/1 isn't 1...3 characters long"),
            (#"{"type":"presence","count":1,"names":["A"]}"#, "/names/0 isn't like ^[a-z]+$: A"),
            (#"{"type":"presence","count":1,"offsets":{"a":"1"}}"#, "/offsets/a is no number"),
            (#"{"type":"presence","count":1,"isOpen":null}"#, "/isOpen is no boolean"),
        ]) func violations(_ text: String, _ violation: String) throws
    {
        let value = try TestJSON(parsing: Array(text.utf8))
        #expect(try SchemaCheck(Self.schema).violation(about: value, as: "server") == violation)
    }

    @Test(
        "Formats are checked",
        arguments: [
            ("id", "6B1D0000-0000-4000-8000-000000000000", "6B1D"), ("at", "2026-11-22T09:00:00Z", "2026-11-22 09:00"),
            ("at", "2026-11-22T23:59:59Z", "2026-99-99T99:99:99Z"),
            ("at", "2028-02-29T00:00:00Z", "2026-02-29T00:00:00Z"),
            ("at", "2026-11-22T09:00:01Z", "2026-11-22T09:00:01.5Z"),
            ("at", "2026-11-22T10:00:00Z", "2026-11-22T10:00:00+01:00"),
            ("on", "2026-11-22", "22.11.2026"), ("on", "2026-02-28", "2026-02-30"), ("url", "https://a.example/b", "b"),
        ]) func formats(_ name: String, _ right: String, _ wrong: String) throws
    {
        let check = try SchemaCheck(Self.schema)
        #expect(check.violation(about: .object([name: .string(right)]), as: "client") == nil)
        #expect(
            check.violation(about: .object([name: .string(wrong)]), as: "client")?.hasPrefix("/\(name) is no") == true)
    }

    @Test(
        "An unsupported schema is an error anywhere",
        arguments: [
            #"{"type":"string","const":"a"}"#, #"{"type":"text"}"#, #"{"type":"string","format":"email"}"#,
            #"{"type":"object","properties":{"a":{"oneOf":[]}}}"#, #"{"$defs":{"a":{"not":{}}}}"#, #"{"enum":"a"}"#,
        ]) func unknown(_ text: String) throws
    {
        let schema = try TestJSON(parsing: Array(text.utf8))
        #expect(throws: ClientFailure.self) { try SchemaCheck(schema) }
    }
}

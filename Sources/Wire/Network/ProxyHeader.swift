/// What a PROXY header says of a connection (HAProxy's PROXY protocol, versions 1 and 2).
package enum ProxyHeader: Sendable, Hashable {
    /// The connection is the proxy's own (v2 LOCAL), or it doesn't know for whom it is (v1 UNKNOWN, v2 UNSPEC) or knows no
    /// IP address (v2 UNIX): the peer stays who it is.
    case ownConnection
    /// The connection is made for this address.
    case source(IPAddress)
}

/// A connection that doesn't begin with a PROXY header, or with a wrong one: nothing on it can be believed.
package enum ProxyHeaderError: Error, Hashable, CaseIterable {
    /// It begins with neither version's signature.
    case noHeader
    /// A line of version 1 that is too long, or not as it has to be.
    case lineTooLong, lineMalformed
    /// Version 2's fields: a version, command, family or transport that it doesn't have, or too few bytes of addresses.
    case versionUnknown, commandUnknown, familyUnknown, lengthTooShort
}

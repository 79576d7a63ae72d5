/// The addresses that a webhook may be sent to: those of the public internet, unless the operator allows the host.
///
/// Otherwise anyone who controls a host name could make the server send requests to machines that only the server can
/// reach.
enum PublicAddress {
    /// IANA's registries of special-purpose addresses, as of 2026, and multicast.
    private static let refusedIPv4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ].compactMap(AddressRange.init)

    /// The only range of IPv6 that is routed in public. Loopback, unspecified, IPv4-mapped, NAT64 (64:ff9b::), unique
    /// local, link-local and multicast addresses are outside of it.
    private static let publicIPv6 = AddressRange("2000::/3")

    /// Parts of that range that are special: Teredo and others, documentation, 6to4.
    private static let refusedIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]
        .compactMap(AddressRange.init)

    /// Whether the 4 or 16 bytes of an address are those of a public one.
    static func contains(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !refusedIPv4.contains { $0.contains(address) }
        case 16: publicIPv6?.contains(address) == true && !refusedIPv6.contains { $0.contains(address) }
        default: false
        }
    }
}

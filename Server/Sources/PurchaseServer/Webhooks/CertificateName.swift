import NIOSSL

/// Whether a certificate names the host of a URL (RFC 9525, 6.3).
///
/// NIOSSL (2.37.6) also accepts one that names the address of the connection instead of the host. Then an attacker who
/// forges the answers of a name server would only need a certificate for their own address.
package enum CertificateName {
    private static let wildcard = Array("*.".utf8)
    private static let period = UInt8(ascii: ".")

    /// Whether one of the DNS names is the host. The common name of the subject is ignored, because it is a text for
    /// people.
    static func isAmong(_ certificate: NIOSSLCertificate, host: String) -> Bool {
        certificate._subjectAlternativeNames().contains { name in
            name.nameType == .dnsName && matches(Array(name.contents), host: Array(host.utf8))
        }
    }

    /// Compares a DNS name of a certificate, whose first label can be `*`, with a host.
    package static func matches(_ name: [UInt8], host: [UInt8]) -> Bool {
        let (name, host) = (normal(name), normal(host))
        guard name.starts(with: wildcard), let end = host.firstIndex(of: period), end > 0 else { return name == host }
        return name.dropFirst() == host[end...]
    }

    /// Lower-case letters, without the period at the end.
    private static func normal(_ name: [UInt8]) -> ArraySlice<UInt8> {
        let small = name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return small.last == period ? small.dropLast() : small[...]
    }
}

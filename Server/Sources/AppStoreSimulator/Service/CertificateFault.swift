/// A fault of the certificates of the next HTTPS connections.
struct CertificateFault: Codable, Equatable, RequestBody {
    var fault: Kind
    /// The number of connections that the fault still applies to.
    var count: Int

    enum Kind: String, Codable, Sendable, CaseIterable {
        case wrongHost = "wrong-host"
        case expired
        case unknownIssuer = "unknown-issuer"

        /// A description of the certificate.
        var explanation: String {
            switch self {
            case .wrongHost: "valid, but only for the name wrong.example"
            case .expired: "with the right name, but expired the day before the start of the simulator"
            case .unknownIssuer: "with the right name, but from an untrusted authority"
            }
        }
    }

    static let members: [BodyMember] = ["fault", "count"]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        fault = try container.decode(Kind.self, forKey: .fault)
        count = try container.decodeIfPresent(Int.self, forKey: .count) ?? 1
    }

    func check() throws(StoreError) {
        guard (1...1_000_000).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to 1000000 connections, not \(count).")
        }
    }
}

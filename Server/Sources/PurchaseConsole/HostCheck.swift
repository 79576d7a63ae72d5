/// Whether a request names the server as a browser on purpose would.
///
/// A page of another site can give its own name the address of this machine (DNS rebinding), and would then read the
/// console in the name of the operator's browser. Such a request has a name in `Host`, so only addresses, `localhost`
/// and the host of the listener are answered.
struct HostCheck: Sendable {
    /// The host of the listener.
    var listener: String?

    func accepts(_ host: String?) -> Bool {
        guard let host else { return false }
        if host.hasPrefix("[") { return host.wholeMatch(of: /\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?/) != nil }
        let name = host.split(separator: ":", omittingEmptySubsequences: false).first.map { $0.lowercased() } ?? ""
        return name == "localhost" || name == listener?.lowercased() || Self.isAddress(name)
    }

    /// Whether a form was sent by a page of the console. Browsers send `Origin` with every form, and over TLS and to
    /// localhost also `Sec-Fetch-Site`, which counts alone: it is right behind a proxy that sends another `Host`.
    func isOwnForm(_ request: ConsoleRequest) -> Bool {
        if let site = request.fetchSite { return site == "same-origin" }
        guard let origin = request.origin else { return true }
        guard let host = request.host else { return false }
        return origin == "http://\(host)" || origin == "https://\(host)"
    }

    private static func isAddress(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}

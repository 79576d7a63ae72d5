import Foundation

/// Where notifications go, and the pending faults of their delivery.
struct NotificationSettings: Codable, Equatable, Sendable {
    /// The server's address; nil if it gets none.
    var url: String?
    /// The address for the sandbox; nil if it is the same.
    var sandboxAddress: String?
    var faults: [NotificationFault] = []

    /// The address that gets the notifications of an environment.
    func url(for environment: StoreEnvironment) -> String? {
        environment == .sandbox ? sandboxAddress ?? url : url
    }

    /// Checks an address: `http` or `https`, with a host.
    static func check(_ url: String) throws(StoreError) {
        guard isAddress(url) else {
            throw StoreError(
                .invalidValue,
                "'\(String(String.UnicodeScalarView(url.unicodeScalars.prefix(80))))' is not an address of the form http://HOST:PORT/PATH or https://HOST:PORT/PATH."
            )
        }
    }

    static func isAddress(_ url: String) -> Bool {
        guard url.utf8.count <= 2048, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let components = URLComponents(string: url), let host = components.host
        else { return false }
        return ["http", "https"].contains(components.scheme?.lowercased()) && !host.isEmpty
    }
}

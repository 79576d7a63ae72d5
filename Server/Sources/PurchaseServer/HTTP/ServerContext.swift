import Hummingbird
import NIOCore
import PurchaseLedger

/// What is known of a request while it is answered.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address that it came from: that of the client, if a proxy of the operator tells it.
    var remoteAddress: String?
    /// Who sent it, once the key was checked.
    var caller: Caller?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress?.ipAddress
    }

    /// Who sent it.
    ///
    /// - Throws: 401 if nobody asked for a key; then a route stands outside of those that need one.
    func requireCaller(_ scope: APIKeyScope) throws -> Caller {
        guard let caller else { throw Problem(.unauthorized, "key_missing", "This route needs a key.") }
        guard caller.key.allows(scope) else {
            throw Problem(
                .forbidden, "scope_insufficient", "The key is not one for this.", expected: scope.rawValue,
                found: caller.key.scopes.map(\.rawValue).sorted().joined(separator: ","))
        }
        return caller
    }
}

/// A key, and the app that it belongs to.
struct Caller: Sendable {
    let key: APIKey
    let app: RegisteredApp
}

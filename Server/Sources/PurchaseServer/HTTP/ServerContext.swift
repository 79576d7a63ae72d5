import Hummingbird
import NIOCore
import PurchaseLedger

/// The state of a request while it is answered.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the client, also behind a proxy of the operator.
    var clientAddress: SocketAddress?
    /// Whether the address is that of a proxy whose `X-Forwarded-For` is not readable.
    var isClientUnreadable = false
    /// The sender, after the key was checked.
    var caller: Caller?
    /// The problem with the parameters of the query, if there is one.
    var parameterProblem: Problem?
    /// The facts about the request for the log.
    let facts = RequestFacts()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        clientAddress = source.channel.remoteAddress
    }

    /// The client's address as text, for the record.
    var remoteAddress: String? { clientAddress?.ipAddress }

    /// The key of limits per address.
    var limitedAddress: [UInt8] { AddressRange.limited(clientAddress) }

    /// The key of limits per network.
    var limitedNetwork: [UInt8] { clientAddress.flatMap(AddressRange.bytes).map(AddressRange.widerNetwork) ?? [] }

    /// The sender. Each route of `/v1` asks for it before it does anything.
    ///
    /// - Throws: 401 if no key was checked, which means that the route is outside of those that need one; 403 if the
    ///   key does not have the scope; then 400 if the query has an unknown parameter.
    func requireCaller(_ scope: APIKeyScope) throws -> Caller {
        guard let caller else { throw Problem(.unauthorized, "key_missing", "This route needs a key.") }
        guard caller.key.allows(scope) else {
            throw Problem(
                .forbidden, "scope_insufficient", "The key does not have the scope that this route needs.",
                expected: scope.rawValue,
                found: caller.key.scopes.map(\.rawValue).sorted().joined(separator: ","))
        }
        if let parameterProblem { throw parameterProblem }
        return caller
    }
}

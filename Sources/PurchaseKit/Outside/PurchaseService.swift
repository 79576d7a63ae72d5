/// Carries requests to the purchase server and answers back. Its answers are verified, so it may be an untrusted relay.
///
/// An implementation follows no redirect, uses no cache, and changes neither body nor the fields of a request. Errors
/// of the server are answers too; it throws only if there is no answer.
public protocol PurchaseService: Sendable {
    func send(_ request: ServiceRequest) async throws -> ServiceAnswer
}

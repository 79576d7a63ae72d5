import HTTPTypes
import Hummingbird

/// Answers every method that a path does not support with 405, and lists those that it supports (RFC 9110, 15.5.6).
struct MethodRoutes {
    private static let methods: [HTTPRequest.Method] =
        [.get, .head, .post, .put, .patch, .delete, .options, .trace] + [HTTPRequest.Method("QUERY")].compactMap(\.self)

    /// Call it after all other routes were added.
    func add(to router: Router<some RequestContext>) {
        let taken = Dictionary(grouping: router.routes, by: { "\($0.path)" }).mapValues { $0.map(\.method) }
        for (path, methods) in taken {
            let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
            for method in Self.methods where !methods.contains(method) {
                router.on(RouterPath(path), method: method) { _, _ in
                    let problem = Problem(
                        .methodNotAllowed, "method_not_allowed", "The path does not support this method.",
                        expected: allowed, found: method.rawValue)
                    var response = problem.response()
                    response.headers[.allow] = allowed
                    return response
                }
            }
        }
    }
}

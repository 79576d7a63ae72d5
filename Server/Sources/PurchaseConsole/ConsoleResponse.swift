/// The answer to a request for a page.
public struct ConsoleResponse: Sendable, Equatable {
    public var status: Int
    public var contentType = "text/html; charset=utf-8"
    /// Where the browser goes on, for 303.
    public var location: String?
    public var cookie: String?
    /// The name under which a browser saves the answer; `nil` for a page that it shows.
    public var fileName: String?
    public var body = ""

    static func page(_ html: String, status: Int = 200) -> ConsoleResponse {
        ConsoleResponse(status: status, body: html)
    }

    static func seeOther(_ location: String) -> ConsoleResponse {
        ConsoleResponse(status: 303, location: location)
    }

    /// The header fields that each answer has: no script, no frame, nothing of another origin, no copy in a cache.
    public static let securityFields: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            """
            default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; \
            base-uri 'none'
            """
        ),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]
}

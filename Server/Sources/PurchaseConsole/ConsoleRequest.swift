/// A request for a page of the console, as far as pages need it.
public struct ConsoleRequest: Sendable {
    public var isPost: Bool
    /// The path after `/console`, without the slash at its end; empty for the first page.
    public var path: String
    /// The parameters of the query.
    public var query: [String: String]
    /// The fields of the form, as text; empty before `withForm`.
    public private(set) var form: [String: String] = [:]
    /// The file of the form, as bytes; empty if none was chosen.
    public private(set) var file: [UInt8] = []
    /// The body of the form, as it was sent, and its `Content-Type`.
    private let body: [UInt8]
    private let bodyType: String?
    /// The fields `Host`, `Origin`, `Sec-Fetch-Site` and `Cookie`.
    public var host: String?
    public var origin: String?
    public var fetchSite: String?
    public var cookies: String?
    /// The address of the browser, for the log of sign-ins.
    public var address: String
    /// Whether the connection has TLS.
    public var isSecure: Bool

    /// A request.
    ///
    /// - Parameters:
    ///   - path: the path after `/console`.
    ///   - query: the query as it was sent, without `?`.
    ///   - form: the body of a form, as it was sent, and its `Content-Type`.
    public init(
        isPost: Bool, path: String, query: String, form: [UInt8], formType: String?, host: String?, origin: String?,
        fetchSite: String?, cookies: String?, address: String, isSecure: Bool
    ) {
        (self.isPost, self.path) = (isPost, path)
        self.query = FormFields.read(query)
        (body, bodyType) = (form, formType)
        (self.host, self.origin, self.fetchSite, self.cookies) = (host, origin, fetchSite, cookies)
        (self.address, self.isSecure) = (address, isSecure)
    }

    /// The request with its form, which is read only once it is known to come from a page of the console.
    var withForm: ConsoleRequest {
        guard isPost else { return self }
        var request = self
        if let boundary = MultipartForm.boundary(of: bodyType) {
            let fields = MultipartForm.read(body, boundary: boundary)
            request.file = fields["file"] ?? []
            request.form = fields.filter { $0.key != "file" }.mapValues { String(decoding: $0, as: UTF8.self) }
        } else {
            request.form = FormFields.read(String(decoding: body, as: UTF8.self))
        }
        return request
    }

    /// The page that the form is on, as it was before the form was sent.
    var again: ConsoleRequest {
        var request = self
        request.isPost = false
        // The form of a held purchase is on the page of the purchase; all others are on that of the customer.
        let isOfPurchase = path == "customer" && form["act"] == "give"
        if isOfPurchase { request.path = "purchase" }
        request.query = ["app": form["app"], "id": form[isOfPurchase ? "target" : "id"]].compactMapValues(\.self)
        return request
    }

    /// Whether the form was sent by a page of the console. Browsers send `Origin` with every form, and over TLS and to
    /// localhost also `Sec-Fetch-Site`, which counts alone: it is right behind a proxy that sends another `Host`.
    var isOwnForm: Bool {
        if let fetchSite { return fetchSite == "same-origin" }
        guard let origin else { return true }
        guard let host else { return false }
        return origin == "http://\(host)" || origin == "https://\(host)"
    }
}

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

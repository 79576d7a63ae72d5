/// A request for a page of the console, as far as pages need it.
public struct ConsoleRequest: Sendable {
    public var isPost: Bool
    /// The path after `/console`, without the slash at its end; empty for the first page.
    public var path: String
    /// The parameters of the query.
    public var query: [String: String]
    /// The fields of the form, as text.
    public var form: [String: String]
    /// The file of the form, as bytes; empty if none was chosen.
    public var file: [UInt8]
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
        if let boundary = MultipartForm.boundary(of: formType) {
            let fields = MultipartForm.read(form, boundary: boundary)
            file = fields["file"] ?? []
            self.form = fields.filter { $0.key != "file" }.mapValues { String(decoding: $0, as: UTF8.self) }
        } else {
            file = []
            self.form = FormFields.read(String(decoding: form, as: UTF8.self))
        }
        (self.host, self.origin, self.fetchSite, self.cookies) = (host, origin, fetchSite, cookies)
        (self.address, self.isSecure) = (address, isSecure)
    }
}

import Foundation
import HTTPTypes
import NIOCore
import PurchaseLedger
import ServerTestSupport
import Testing

/// A browser: it keeps the cookie, and knows the token of the last page.
struct ConsoleBrowser {
    static let password = "correct horse battery"

    let client: LiveClient
    var cookie: String?
    var token = ""
    /// The number of the forms of the last page.
    var form = ""
    /// Where the last answer leads.
    var location: String?

    init(_ world: PurchaseServerWorld) throws { client = try #require(world.admin) }

    mutating func get(_ path: String) async throws -> (status: Int, text: String) {
        try await send(.get, path, nil)
    }

    mutating func post(
        _ path: String, _ fields: [String: String], token: String? = nil, origin: String? = nil,
        _ more: [String: String] = [:]
    ) async throws -> (status: Int, text: String) {
        var fields = fields
        fields["token"] = token ?? self.token
        return try await send(.post, path, fields, origin: origin, more)
    }

    /// Sends a form with a file, as browsers do.
    ///
    /// - Parameter more: further lines in the head of the file.
    mutating func upload(
        _ path: String, _ fields: [String: String], file: [UInt8], more: String = ""
    ) async throws -> (status: Int, text: String) {
        var body: [UInt8] = []
        for (name, value) in fields.merging(["token": token], uniquingKeysWith: { own, _ in own }) {
            body += Array("--x\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
        }
        let head =
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\nContent-Type: a/b\r\n\(more)\r\n"
        body += Array(head.utf8) + file + Array("\r\n--x--\r\n".utf8)
        let response = try await client.execute(
            uri: path, method: .post,
            headers: [.contentType: "multipart/form-data; boundary=x", .cookie: cookie ?? ""],
            body: ByteBuffer(bytes: body))
        return (response.status.code, String(buffer: response.body))
    }

    private mutating func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String]?, origin: String? = nil,
        _ more: [String: String] = [:]
    ) async throws -> (status: Int, text: String) {
        var headers: HTTPFields = [:]
        if let cookie { headers[.cookie] = cookie }
        if let origin { headers[.origin] = origin }
        for (name, value) in more { headers[try #require(HTTPField.Name(name))] = value }
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789")
        let body = fields.map { fields in
            fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
                .joined(separator: "&")
        }
        let response = try await client.execute(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        location = response.headers[.location]
        if let set = response.headers[.setCookie] { cookie = set.split(separator: ";").first.map(String.init) }
        let text = String(buffer: response.body)
        if let found = text.firstMatch(of: /name="token" value="([^"]+)"/) { token = String(found.1) }
        if let found = text.firstMatch(of: /name="form" value="([^"]+)"/) { form = String(found.1) }
        #expect(response.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
        return (response.status.code, text)
    }

    /// The text of a page, as people read it.
    static func words(_ page: String) -> String {
        page.replacing(/<[^>]+>/, with: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Sets the password of a new operator, who is signed in then.
    static func signedIn(_ world: PurchaseServerWorld, _ name: String, _ role: OperatorRole) async throws
        -> ConsoleBrowser
    {
        let link = try #require(try await world.ledger.perform(AddOperator(name: name, role: role)))
        var browser = try ConsoleBrowser(world)
        let set = try await browser.post(
            "/console/link", ["secret": link.text, "password": password, "again": password])
        #expect(set.status == 303)
        let cookie = browser.cookie
        let again = try await browser.get("/console/link?secret=\(link.text)")
        #expect(again.status == 403 && browser.cookie == cookie, "a link works once")
        let first = try await browser.get("/console")
        #expect(first.status == 200 && first.text.contains("Search"))
        #expect(first.text.contains(#"<a href="http://localhost:8090">The simulated store</a>"#))
        return browser
    }
}

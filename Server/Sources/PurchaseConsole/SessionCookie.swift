import Crypto
import Foundation
import PurchaseLedger

/// The cookie of a session, and the token of its forms.
enum SessionCookie {
    private static func name(isSecure: Bool) -> String { isSecure ? "__Host-assay_console" : "assay_console" }

    static func text(_ secret: OneTimeLink, isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=\(secret.text); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// A cookie that ends the session in the browser.
    static func ended(isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0" + (isSecure ? "; Secure" : "")
    }

    static func secret(_ request: ConsoleRequest) -> OneTimeLink? {
        let prefix = name(isSecure: request.isSecure) + "="
        for cookie in (request.cookies ?? "").split(separator: ";") {
            let cookie = cookie.trimmingCharacters(in: .whitespaces)
            if cookie.hasPrefix(prefix) { return OneTimeLink(sent: String(cookie.dropFirst(prefix.count))) }
        }
        return nil
    }

    /// The token that a form sends back. It is derived from the secret of the session, so another site cannot know it.
    static func formToken(_ secret: OneTimeLink) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("form of the console".utf8), using: SymmetricKey(data: Data(secret.text.utf8)))
        return Data(code).base64EncodedString()
    }
}

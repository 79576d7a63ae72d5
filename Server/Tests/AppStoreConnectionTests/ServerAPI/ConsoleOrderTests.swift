import Foundation
import HTTPTypes
import NIOCore
import PurchaseLedger
import ServerTestSupport
import Testing

/// The search of the console, with a store that knows the customer's order.
@Suite("Apple's order number in the console", .serialized)
struct ConsoleOrderTests {
    @Test("32.1 The order number of Apple's mail leads to the purchase, which was not known before")
    func order() async throws {
        try await AskingWorld.run { world in
            let link = try #require(try await world.ledger.perform(AddOperator(name: "ann", role: .view)))
            func send(_ path: String, _ form: String? = nil, cookie: String? = nil) async throws -> (
                status: Int, location: String?, cookie: String?, text: String
            ) {
                let response = try await world.admin.execute(
                    uri: "/console/\(path)", method: form == nil ? .get : .post,
                    headers: cookie.map { [.cookie: $0] } ?? [:], body: form.map { ByteBuffer(string: $0) })
                return (
                    response.status.code, response.headers[.location],
                    response.headers[.setCookie]?.split(separator: ";").first.map(String.init),
                    String(buffer: response.body)
                )
            }
            let password = "password=correct+horse+battery"
            #expect(try await send("link", "secret=\(link.text)&again=correct+horse+battery&\(password)").status == 303)
            let cookie = try await send("sign-in", "name=ann&\(password)").cookie
            let bought = try await world.buy("coins", by: "ada")
            let none = try await send("search?app=game&q=MS0000ZZZZZZ9", cookie: cookie)
            #expect(none.status == 200 && none.text.contains("Apple was asked, and knows no order"))
            let found = try await send("search?app=game&q=\(bought.order)", cookie: cookie)
            #expect(found.status == 303 && found.location == "/console/purchase?app=game&id=\(bought.id)", "\(found)")
            let page = try await send("purchase?app=game&id=\(bought.id)", cookie: cookie)
            #expect(page.status == 200 && page.text.contains("coins"))
        }
    }
}

import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// The sender of a request behind the operator's proxies.
@Suite("The address of the client")
struct ClientAddressTests {
    @Test(
        "A range contains the addresses with its prefix",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false), ("192.0.2.128/25", "192.0.2.127", false),
            ("192.0.2.128/25", "192.0.2.200", true), ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
            ("2001:db8::/32", "2001:db8:1::5", true), ("2001:db8::/32", "2001:db9::", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("::1", "::1", true), ("10.0.0.0/8", "ten", false),
        ])
    func ranges(range: String, address: String, isIn: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(address) == isIn)
    }

    @Test(
        "Text that is not a range is refused",
        arguments: ["", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10/8/1", "a", "::1/129", "::1/"])
    func noRanges(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test(
        "The record has the last address that is not one of the operator's proxies, and never trusts a stranger's header"
    )
    func record() async throws {
        let trusted = ["127.0.0.0/8", "::1", "10.0.0.0/8"]
        let cases: [(proxies: [String], header: [String], found: String)] = [
            ([], ["198.51.100.7"], "127.0.0.1"),
            (["192.0.2.1"], ["198.51.100.7"], "127.0.0.1"),
            (trusted, [], "127.0.0.1"),
            (trusted, ["198.51.100.7"], "198.51.100.7"),
            (trusted, ["203.0.113.5, 198.51.100.7"], "198.51.100.7"),
            (trusted, ["203.0.113.5, 198.51.100.7, 10.0.0.3"], "198.51.100.7"),
            (trusted, ["203.0.113.5", "198.51.100.7 , 10.0.0.3"], "198.51.100.7"),
            (trusted, ["198.51.100.7:4711"], "198.51.100.7"),
            (trusted, ["[2001:db8::9]:80"], "2001:db8::9"),
            (trusted, ["198.51.100.7, unknown"], "127.0.0.1"),
            (trusted, ["198.51.100.7, unknown, 10.0.0.3"], "10.0.0.3"),
            (trusted, [", ,"], "127.0.0.1"),
        ]
        for item in cases {
            try await PurchaseServerWorld.run { configuration in
                configuration.trustedProxies = item.proxies.compactMap(AddressRange.init)
            } _: { world async throws in
                var headers = HTTPFields()
                let name = try #require(HTTPField.Name("X-Forwarded-For"))
                for value in item.header { headers.append(HTTPField(name: name, value: value)) }
                _ = try await world.send(
                    .post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client, headers: headers)
                #expect(try await world.submissions().first?.sourceAddress == item.found, "\(item)")
            }
        }
    }
}

import EvidenceMint
import Foundation
import Testing

@Suite("The payload of a receipt")
struct PayloadTests {
    @Test("is a SET of SEQUENCE { type, version, OCTET STRING }, byte for byte")
    func bytes() {
        var template = AppReceiptTemplate()
        template.bundleID = "a.b"
        template.adamID = 128
        template.omitted = [8]
        #expect(
            template.payload() == [
                0x31, 0x1D,
                0x30, 0x0C, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x04, 0x04, 0x02, 0x02, 0x00, 0x80,
                0x30, 0x0D, 0x02, 0x01, 0x02, 0x02, 0x01, 0x01, 0x04, 0x05, 0x0C, 0x03, 0x61, 0x2E, 0x62,
            ])
    }

    @Test("has the attributes of a sandbox receipt, and version 2 only in attribute 4")
    func sandbox() throws {
        let attributes = try ReadAttribute.all(World.receipt.payload())
        #expect(
            attributes.map(\.type).sorted()
                == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 17, 18, 19, 20, 25]
        )
        #expect(attributes.filter { $0.version != 1 }.map(\.type) == [4])
        #expect(attributes[type: 0]?.value == Array("\u{0C}\u{11}ProductionSandbox".utf8))
        #expect(attributes[type: 4]?.value.count == 16)
        #expect(attributes[type: 8]?.value == [0x16, 0x00])
        #expect(attributes[type: 9]?.value == [0x02, 0x04] + Array("P305".utf8))
        #expect(attributes[type: 12]?.value == [0x16, 0x14] + Array("2024-07-03T09:46:40Z".utf8))
        #expect(attributes[type: 18]?.value == [0x16, 0x14] + Array("2013-08-01T07:00:00Z".utf8))
        #expect(attributes[type: 20]?.value == [0x0C, 0x00])
        #expect(attributes[type: 25]?.value == [0x02, 0x01, 0x03])
    }

    @Test("is in DER order by default, and so are the attributes of its purchases")
    func derOrder() throws {
        let payload = World.receipt.payload()
        let attributes = try ReadAttribute.all(payload)
        #expect(attributes.map(\.encoded).isAscending)
        #expect(attributes.map(\.encoded.count).isAscending, "DER order amounts to: the shortest first")

        let purchases = attributes.filter { $0.type == 17 }
        #expect(purchases.count == 2)
        for purchase in purchases {
            #expect(try ReadAttribute.all(purchase.value).map(\.encoded).isAscending)
        }
    }

    @Test("can be in any other order")
    func otherOrders() throws {
        var template = World.receipt
        let sorted = try ReadAttribute.all(template.payload())

        template.attributeOrder = .reversed
        #expect(try ReadAttribute.all(template.payload()).map(\.type) == sorted.map(\.type).reversed())

        template.extraAttributes = [.integer(13, 7)]
        template.attributeOrder = .asGiven
        let given = try ReadAttribute.all(template.payload()).map(\.type)
        #expect(given.dropLast().isAscending && given.last == 13)

        template.attributeOrder = .byType
        #expect(try ReadAttribute.all(template.payload()).map(\.type).isAscending)
    }

    @Test("has a device hash over identifier, attribute 4 and the DER value of attribute 2")
    func deviceHash() throws {
        var template = AppReceiptTemplate()
        template.bundleID = "com.example.app"
        template.opaqueValue = [1, 2, 3, 4, 5, 6, 7, 8]
        template.deviceHash = .forDevice([
            0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
        ])
        let hash = try ReadAttribute.all(template.payload())[type: 5]?.value
        #expect(hash?.hex == "bdd0ae73f872d5212a64cb9be39980e57460d001")

        template.deviceHash = .raw([9])
        #expect(try ReadAttribute.all(template.payload())[type: 5]?.value == [9])
        template.deviceHash = .none
        #expect(try ReadAttribute.all(template.payload())[type: 5] == nil)
    }

    @Test("writes dates in each style that was seen")
    func dateStyles() throws {
        var template = World.receipt
        template.sentReceiptCreationDate = World.creationDate.addingTimeInterval(0.131)
        template.dateStyle = .milliseconds
        var attributes = try ReadAttribute.all(template.payload())
        #expect(try attributes[type: 8]?.text() == "2024-07-03T09:46:40.131Z")
        #expect(try attributes[type: 12]?.text() == "2024-07-03T09:46:40Z")

        template.dateStyle = .numericOffset(minutes: -570)
        attributes = try ReadAttribute.all(template.payload())
        #expect(try attributes[type: 12]?.text() == "2024-07-03T00:16:40-0930")
        template.dateStyle = .numericOffset(minutes: 180)
        attributes = try ReadAttribute.all(template.payload())
        #expect(try attributes[type: 12]?.text() == "2024-07-03T12:46:40+0300")
        let purchase = try ReadAttribute.all(try #require(attributes[type: 17]).value)
        #expect(try purchase[type: 1704]?.text() == "2024-07-03T09:46:40Z")
    }

    @Test(
        "writes every day of the calendar correctly",
        arguments: [
            (-1.0, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"), (64_092_211_200, "4001-01-01T00:00:00Z"),
        ])
    func calendar(seconds: Double, text: String) throws {
        var template = AppReceiptTemplate()
        template.creationDate = Date(timeIntervalSince1970: seconds)
        #expect(try ReadAttribute.all(template.payload())[type: 12]?.text() == text)
    }

    @Test("leaves out omitted attributes, but not added ones")
    func omission() throws {
        var template = World.receipt
        template.omitted = [2, 17]
        template.extraAttributes = [.utf8(2, "com.example.other"), RawAttribute(type: 9000, version: 3, value: [])]
        let attributes = try ReadAttribute.all(template.payload())
        #expect(try attributes.filter { $0.type == 2 }.map { try $0.text() } == ["com.example.other"])
        #expect(attributes[type: 17] == nil)
        #expect(attributes[type: 9000]?.version == 3)
    }

    @Test("of a Volume Purchase receipt has an expiry date")
    func volumePurchase() throws {
        let template = AppReceiptTemplate.volumePurchase(
            bundleID: World.bundleID,
            creationDate: World.creationDate,
            expirationDate: World.creationDate.addingTimeInterval(86_400)
        )
        let attributes = try ReadAttribute.all(template.payload())
        #expect(try attributes[type: 0]?.text() == "ProductionVPP")
        #expect(try attributes[type: 21]?.text() == "2024-07-04T09:46:40Z")
    }

    @Test("from the Mac has store 2 and no attribute 20")
    func mac() throws {
        let template = AppReceiptTemplate.mac(bundleID: World.bundleID, creationDate: World.creationDate)
        let attributes = try ReadAttribute.all(template.payload())
        #expect(attributes[type: 25]?.value == [0x02, 0x01, 0x02])
        #expect(attributes[type: 20] == nil)
        #expect(try attributes[type: 0]?.text() == "Production")
    }

    @Test("from Xcode has few attributes, ordered by number")
    func xcode() throws {
        let template = AppReceiptTemplate.xcode(
            bundleID: World.bundleID, creationDate: World.creationDate, purchases: [World.coins, World.year]
        )
        let attributes = try ReadAttribute.all(template.payload())
        #expect(attributes.map(\.type) == [0, 1, 2, 3, 4, 5, 8, 12, 17, 17, 21])
        #expect(attributes[type: 4]?.version == 1)
        #expect(attributes[type: 4]?.value.count == 8)
        #expect(try attributes[type: 21]?.text() == "4001-01-01T00:00:00Z")
        let purchases = try attributes.filter { $0.type == 17 }.map { try ReadAttribute.all($0.value).map(\.type) }
        #expect(purchases == [[1701, 1702, 1703, 1704], [1701, 1702, 1703, 1704, 1708, 1719]])
    }
}

@Suite("A purchase in a receipt")
struct PurchaseTests {
    @Test("of coins has Apple's attributes, including the empty ones")
    func consumable() throws {
        let attributes = try attributes(of: World.coins)
        #expect(attributes.map(\.type).sorted() == Array(1701...1718) + [1722])
        #expect(attributes[type: 1701]?.value == [0x02, 0x01, 0x03])
        #expect(attributes[type: 1707]?.value == [0x02, 0x01, 0x01])
        #expect(attributes[type: 1708]?.value == [0x16, 0x00])
        #expect(attributes[type: 1712]?.value == [0x16, 0x00])
        #expect(attributes[type: 1718]?.value == [0x0C, 0x00])
        #expect(try attributes[type: 1705]?.text() == "2000000000000001")
    }

    @Test("of a subscription has an expiry date, a web order line and an introductory flag")
    func subscription() throws {
        let attributes = try attributes(of: World.year)
        #expect(attributes.map(\.type).sorted() == Array(1701...1719) + [1722])
        #expect(attributes[type: 1707]?.value == [0x02, 0x01, 0x03])
        #expect(try attributes[type: 1708]?.text() == "2024-07-03T10:46:40Z")
        #expect(try attributes[type: 1705]?.text() == "2000000000000002")
        #expect(
            try ASN1Element(try #require(attributes[type: 1711]).value).number == 2_000_000_000_000_003,
            "the number of its transaction, as nobody named another")
    }

    @Test("can be refunded, shared and offered")
    func rareFields() throws {
        var purchase = World.year
        purchase.cancellationDate = World.creationDate
        purchase.ownershipType = .familyShared
        purchase.promotionalOfferID = "spring"
        let attributes = try attributes(of: purchase)
        #expect(try attributes[type: 1712]?.text() == "2024-07-03T09:46:40Z")
        #expect(try attributes[type: 1721]?.text() == "spring")
        #expect(attributes[type: 1722]?.value == [0x02, 0x01, 0x01])
    }

    private func attributes(of purchase: PurchaseTemplate) throws -> [ReadAttribute] {
        var template = AppReceiptTemplate()
        template.purchases = [purchase]
        return try ReadAttribute.all(try #require(try ReadAttribute.all(template.payload())[type: 17]).value)
    }
}

extension [[UInt8]] {
    fileprivate var isAscending: Bool {
        zip(self, dropFirst()).allSatisfy { !$1.lexicographicallyPrecedes($0) }
    }
}

extension Sequence<Int> {
    fileprivate var isAscending: Bool {
        let numbers = Array(self)
        return numbers == numbers.sorted()
    }
}

extension [UInt8] {
    var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of signed content, and genuine receipts that a caller may refuse.
enum ContentCounterExamples {
    static let all = content + policies

    static let content: [CounterExample] = [
        .minted(.creationDateMissing, .missingCreationDate),
        .payload(.creationDateMissing, "an empty creation date") { tree in
            tree[tree.index(ofAttribute: 12), 2].content = [0x16, 0]
        },
        .minted(.creationDateMissing, .malformedDate),
        .payload(.attributeMalformed, "the 30th of February in attribute 18") { tree in
            tree[tree.index(ofAttribute: 18), 2].content = [0x16, 20] + Array("2024-02-30T12:00:00Z".utf8)
        },
        .payload(.attributeMalformed, "a bundle id that is no UTF-8") { tree in
            tree[tree.index(ofAttribute: 2), 2].content = [0x0C, 2, 0xC3, 0x28]
        },
        .payload(.attributeMalformed, "a bundle id that is an integer") { tree in
            tree[tree.index(ofAttribute: 2), 2].content = [0x02, 1, 1]
        },
        .payload(.attributeMalformed, "a date in an integer") { tree in
            tree[tree.index(ofAttribute: 18), 2].content = [0x02, 1, 1]
        },
        .payload(.attributeMalformed, "a negative number of the app") { tree in
            tree[tree.index(ofAttribute: 1), 2].content = [0x02, 1, 0xFF]
        },
        .payload(.attributeMalformed, "a number beyond 64 bits") { tree in
            tree[tree.index(ofAttribute: 15), 2].content = [0x02, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        },
        .payload(.payloadMalformed, "an attribute type beyond 64 bits") { tree in
            tree[0, 0].content = [1, 0, 0, 0, 0, 0, 0, 0, 0]
        },
        .payload(.attributeMalformed, "a number with a superfluous byte") { tree in
            tree[tree.index(ofAttribute: 16), 2].content = [0x02, 2, 0, 1]
        },
        .payload(.attributeMalformed, "two values in one attribute") { tree in
            tree[tree.index(ofAttribute: 3), 2].content += [0x05, 0]
        },
        .payload(.payloadMalformed, "an attribute of four fields") {
            $0[0].children.append(DERTree(tag: 5, content: []))
        },
        .minted(.attributeDuplicated, .duplicateAttribute),
        .payload(.attributeDuplicated, "an unknown attribute twice") { tree in
            tree.children += [DERTree](repeating: unknownAttribute(9999), count: 2)
        },
        .payload(.attributeDuplicated, "two product ids in a purchase") { tree in
            let number = tree.index(ofAttribute: 17)
            var purchase = DERTree(tree[number, 2].content)
            purchase.children.append(purchase[purchase.index(ofAttribute: 1702)])
            tree[number, 2].content = purchase.bytes
        },
        .minted(.attributeMissing, .noTransactionID),
        .payload(.attributeMissing, "a purchase without a product id") { tree in
            let number = tree.index(ofAttribute: 17)
            var purchase = DERTree(tree[number, 2].content)
            purchase.children.remove(at: purchase.index(ofAttribute: 1702))
            tree[number, 2].content = purchase.bytes
        },
        .payload(.attributeMissing, "an empty transaction id") { tree in
            let number = tree.index(ofAttribute: 17)
            var purchase = DERTree(tree[number, 2].content)
            purchase[purchase.index(ofAttribute: 1703), 2].content = [0x0C, 0]
            tree[number, 2].content = purchase.bytes
        },
        .payload(.tooManyAttributes, "257 more attributes") { tree in
            tree.children += (0..<257).map { unknownAttribute(10_000 + $0) }
        },
        .payload(.tooManyAttributes, "a purchase with 257 attributes") { tree in
            let number = tree.index(ofAttribute: 17)
            tree[number, 2].content =
                DERTree(tag: 0x31, children: (0..<257).map { unknownAttribute(10_000 + $0) }).bytes
        },
        .payload(.tooManyPurchases, "20,001 purchases") { tree in
            let purchase = DERTree(
                tag: 0x31,
                children: [
                    attribute(1702, [0x0C, 1, 0x61]), attribute(1703, [0x0C, 1, 0x31]),
                ])
            tree.children += [DERTree](repeating: attribute(17, purchase.bytes), count: 20_001)
        },
        CounterExample(
            .environmentNotVouchedFor, "a sandbox receipt signed by a lone certificate, as Xcode has one",
            anchors: { [try MintedWorld.xcodeSigner().identity.certificate] }
        ) {
            var template = MintedWorld.receipt()
            template.receiptType = "ProductionSandbox"
            return try MintedWorld.xcodeSigner().encode(template)
        },
    ]

    static let policies: [CounterExample] = [
        CounterExample(
            .environmentNotAccepted, "sandbox where production is wanted",
            policies: [EnvironmentPolicy(accepting: [.production])]
        ) { try MintedWorld.mint() },
        CounterExample(.bundleIDMismatch, "another app", policies: [BundleIDPolicy("com.example.other")]) {
            try MintedWorld.mint()
        },
        CounterExample(.bundleIDMismatch, "the same letters in capitals", policies: [BundleIDPolicy("com.example.App")])
        {
            try MintedWorld.mint()
        },
        CounterExample(.applicationVersionMismatch, "another version", policies: [ApplicationVersionPolicy("2")]) {
            try MintedWorld.mint()
        },
        CounterExample(
            .deviceHashMismatch, "another device",
            policies: [DeviceHashPolicy(DeviceIdentifier(bytes: [1, 2, 3, 4, 5, 6]))]
        ) { try MintedWorld.mint() },
        CounterExample(
            .receiptExpired, "at the second at which it expires",
            policies: [ExpirationPolicy(at: AppStoreTime(MintedWorld.moment.addingTimeInterval(60)))]
        ) {
            try MintedWorld.mint(
                .volumePurchase(
                    bundleID: "com.example.app", creationDate: MintedWorld.moment,
                    expirationDate: MintedWorld.moment.addingTimeInterval(60)))
        },
        CounterExample(
            .attributeMissing, "no bundle id where one is wanted", policies: [BundleIDPolicy("com.example.app")]
        ) {
            try MintedWorld.mint(fault: .missingBundleID)
        },
        CounterExample(
            .attributeMissing, "no receipt type where an environment is wanted",
            policies: [EnvironmentPolicy(accepting: [.sandbox])]
        ) { try MintedWorld.mint(fault: .missingReceiptType) },
        .payload(.attributeMissing, "no version where one is wanted", policies: [ApplicationVersionPolicy("1")]) {
            tree in
            tree.children.remove(at: tree.index(ofAttribute: 3))
        },
        .payload(.attributeMissing, "no device hash where a device is wanted", policies: [device]) { tree in
            tree.children.remove(at: tree.index(ofAttribute: 5))
        },
        .payload(.attributeMissing, "no opaque value where a device is wanted", policies: [device]) { tree in
            tree.children.remove(at: tree.index(ofAttribute: 4))
        },
    ]

    private static let device = DeviceHashPolicy(DeviceIdentifier(bytes: AppReceiptTemplate.noDevice))

    private static func attribute(_ type: Int, _ value: [UInt8]) -> DERTree {
        DERTree(
            tag: 0x30,
            children: [
                DERTree(tag: 0x02, content: [UInt8(type >> 8), UInt8(type & 0xFF)].drop { $0 == 0 }.map { $0 }),
                DERTree(tag: 0x02, content: [1]),
                DERTree(tag: 0x04, content: value),
            ])
    }

    private static func unknownAttribute(_ type: Int) -> DERTree { attribute(type, [0x05, 0]) }
}

import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("Restores from guests: the rule")
struct GuestTakeoverTests {
    private static let (guest, customer, other) = (PurchaseStory.alice, PurchaseStory.bob, PurchaseStory.carol)
    private static let now = Timestamp.day(100)

    private static func takeover(_ terms: GuestRestore = GuestRestore(appTransaction: "Production 7")) -> GuestTakeover
    {
        let facts = ObservedTransaction(.signed("1", "monthly", .autoRenewable, on: 0, original: "1", until: 30))
        var takeover = GuestTakeover(of: facts, .autoRenewable, by: customer, terms)
        (takeover.owner, takeover.isGuest) = (guest, true)
        (takeover.tokenOwners, takeover.appTransactionIDs) = ([guest, customer], [ExactText("7")])
        takeover.transferredAt = Timestamp(millisecondsSince1970: now.millisecondsSince1970 - GuestTakeover.pause)
        return takeover
    }

    @Test("All bounds together let it take over, and each alone prevents it")
    func bounds() {
        #expect(Self.takeover().guest(at: Self.now) == Self.guest)
        let breaks: [(String, (inout GuestTakeover) -> Void)] = [
            ("nobody owns it", { $0.owner = nil }), ("it is the customer's", { $0.owner = Self.customer }),
            ("the owner is no guest", { $0.isGuest = false }),
            ("a token of another customer", { $0.tokenOwners.insert(Self.other) }),
            ("another download, too", { $0.appTransactionIDs.insert(ExactText("8")) }),
            (
                "transferred a millisecond less than 30 days ago",
                {
                    $0.transferredAt = Timestamp(
                        millisecondsSince1970: Self.now.millisecondsSince1970 - GuestTakeover.pause + 1)
                }
            ),
        ]
        for (name, change) in breaks {
            var takeover = Self.takeover()
            change(&takeover)
            #expect(takeover.guest(at: Self.now) == nil, "\(name)")
        }
        for proof in [nil, "Sandbox 7", "Production 8", "7"] {
            #expect(Self.takeover(GuestRestore(appTransaction: proof)).guest(at: Self.now) == nil, "\(proof ?? "none")")
        }
        var silent = Self.takeover(GuestRestore())
        silent.appTransactionIDs = []
        #expect(silent.guest(at: Self.now) == Self.guest, "a purchase that states no download needs no proof of one")
    }

    @Test("Only auto-renewables and non-consumables are taken over")
    func kinds() {
        for kind in ProductKind.allCases {
            let facts = Self.takeover().facts
            var takeover = GuestTakeover(of: facts, kind, by: Self.customer, GuestRestore())
            (takeover.owner, takeover.isGuest) = (Self.guest, true)
            let isTaken = kind == .autoRenewable || kind == .nonConsumable
            #expect((takeover.guest(at: Self.now) != nil) == isTaken, "\(kind)")
        }
    }

    @Test("The act transfers what the guest owns, own tokens included, and nothing of a token of somebody else")
    func act() throws {
        var story = PurchaseStory()
        story.statements = [(1, nil), (2, 1), (3, nil), (4, 2)].map { place, token in
            .signed(
                "\(place)", "monthly", .autoRenewable, on: Double(place) * 30, original: "1",
                until: Double(place + 1) * 30, token: token)
        }
        story.claim("1", Self.guest)
        try story.tokens.assign(.sample(1), to: Self.guest)
        story.act(.takeOver(transaction: .sample("1"), from: Self.guest, by: Self.customer))
        #expect(["1", "2", "3", "4"].map(story.owner) == Array(repeating: Self.customer, count: 4))
        // Evidence and tokens that become known later change only whose they are.
        try story.tokens.assign(.sample(2), to: Self.other)
        #expect(["1", "2", "3", "4"].map(story.owner) == [Self.customer, Self.customer, Self.customer, Self.other])
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            var shuffled = story
            shuffled.statements = order.map { story.statements[$0] }
            #expect(["1", "2", "3", "4"].map(shuffled.owner) == ["1", "2", "3", "4"].map(story.owner))
        }
        // An act that names somebody who does not own the transaction is a claim like any other.
        story.act(.takeOver(transaction: .sample("4"), from: Self.guest, by: Self.customer))
        #expect(story.owner("4") == Self.other)
    }

    @Test("The id of a guest is guest- and a UUID of version 4 in lower case")
    func ids() {
        let id = "guest-0a8c2a63-4d2c-4c6b-8b53-0a1d6b0b8b11"
        #expect(GuestID.isGuestID(id))
        for wrong in [
            "", "guest-", "alice", id.uppercased(), String(id.dropLast()), id + "0", " " + id,
            id.replacing("-4c6b", with: "-1c6b"), id.replacing("-8b53", with: "-cb53"),
            id.replacing("8b53", with: "8b5g"),
            id.replacing("guest", with: "Guest"), id.replacing("-", with: "_"),
        ] {
            #expect(!GuestID.isGuestID(wrong), "\(wrong)")
        }
    }
}

import PurchaseServer
import Testing

@Suite("Deliveries that are not recorded")
struct UnrecordedDeliveryTests {
    /// A server that is killed has sent this many events, whose outcomes are not recorded.
    private static func repeats(_ deliveries: UnrecordedDeliveries) -> Int {
        var (deliveries, sent) = (deliveries, 0)
        while !deliveries.isFull(with: 0) {
            deliveries.add(1)
            sent += 1
        }
        return sent
    }

    @Test(
        "28 A server that is killed before its first record repeats 8 deliveries, and later no more than twice what it recorded"
    )
    func doubling() {
        var deliveries = UnrecordedDeliveries(window: 1000)
        var repeats: [Int] = []
        for _ in 0..<6 {
            repeats.append(Self.repeats(deliveries))
            deliveries.add(repeats.last ?? 0)
            #expect(deliveries.isFull(with: 0) && deliveries.isRecordDue)
            deliveries.recorded(remaining: 0, hadOutcomes: true)
        }
        #expect(repeats == [8, 16, 32, 64, 64, 64])
    }

    @Test(
        "28 Attempts under way count, a record without outcomes allows no more, and a first event that takes long does not stop the others"
    )
    func waiting() {
        var deliveries = UnrecordedDeliveries(window: 100)
        #expect(!deliveries.isFull(with: 7) && deliveries.isFull(with: 8) && !deliveries.isRecordDue)
        deliveries.add(3)
        #expect(deliveries.isFull(with: 5) && !deliveries.isFull(with: 4) && !deliveries.isRecordDue)
        deliveries.add(1)
        #expect(deliveries.isRecordDue)
        deliveries.recorded(remaining: 0, hadOutcomes: false)
        #expect(deliveries.allowance == 8 && !deliveries.isFull(with: 7))
        deliveries.allowMore()
        #expect(deliveries.isFull(with: 16) && !deliveries.isFull(with: 15))
        for _ in 0..<10 { deliveries.allowMore() }
        #expect(deliveries.allowance == 100)
    }

    @Test("28 What a record could not record still counts, and the allowance is that of records again")
    func remaining() {
        var deliveries = UnrecordedDeliveries(window: 1000)
        for _ in 0..<5 { deliveries.allowMore() }
        deliveries.add(Self.repeats(deliveries))
        #expect(deliveries.allowance == 256)
        deliveries.recorded(remaining: 60, hadOutcomes: true)
        #expect(deliveries.allowance == 64 && Self.repeats(deliveries) == 4)
        deliveries.recorded(remaining: 0, hadOutcomes: true)
        #expect(Self.repeats(deliveries) == 64)
    }
}

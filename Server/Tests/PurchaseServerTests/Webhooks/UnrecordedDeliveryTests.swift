import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
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

    @Test("D.3 The first event that may be sent is sent next, so that what a fast receiver accepts can be recorded")
    func first() throws {
        var (window, unrecorded) = (DeliveryWindow(after: 0, blocked: []), UnrecordedDeliveries(window: 1024))
        var (random, key, sent, last) = (SeededGenerator(seed: 46), Int64(0), 0, [Int64: Int64]())
        while sent < 5000 {
            while window.count < 1024 {
                key += 1
                let customer = Int64.random(in: 1...300, using: &random)
                window.add(OutgoingEvent(key: key, customer: customer, id: "\(key)", content: .notification(body: nil)))
            }
            var underWay: [Int] = []
            while underWay.count < 32, !unrecorded.isFull(with: underWay.count), let next = window.takeNext() {
                #expect(last[next.event.customer, default: 0] < next.event.key)
                last[next.event.customer] = next.event.key
                underWay.append(next.position)
            }
            for position in underWay { window.deliver(position) }
            sent += underWay.count
            let settled = try #require(window.settled, "nothing can be recorded after \(sent) deliveries")
            window.removeFirst(settled.count)
            unrecorded.recorded(remaining: window.delivered, hadOutcomes: true)
        }
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

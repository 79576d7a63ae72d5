package import PurchaseLedger

/// The events of a webhook that were read and are not recorded yet. It decides which may be sent: the events of a
/// customer follow each other, and those of different customers do not wait for each other.
package struct DeliveryWindow {
    private var slots: [Slot] = []
    /// The position of the first slot; positions only grow.
    private var base = 0
    private var lanes: [Int64: Lane] = [:]
    /// The positions of the events that may be sent, the first one last. It is sent next: nothing behind it can be
    /// recorded before it.
    private var ready: [Int] = []
    /// The customers who have an event that was not delivered; their next events wait behind it.
    private(set) var blocked: Set<Int64>
    /// The last event that was read.
    private(set) var last: Int64
    /// The number of events in it that were sent and delivered.
    package private(set) var delivered = 0

    private struct Slot {
        let event: OutgoingEvent
        var state = State.queued
    }

    private enum State {
        case queued
        case delivered
        case undelivered(UndeliveredEvent)
    }

    /// The events of a customer that wait for their turn.
    private struct Lane {
        var queue: [Int] = []
        var isBusy = false
    }

    package init(after cursor: Int64, blocked: Set<Int64>) {
        last = cursor
        self.blocked = blocked
    }

    /// The number of events in it.
    package var count: Int { slots.count }

    package mutating func add(_ event: OutgoingEvent) {
        let position = base + slots.count
        last = event.key
        slots.append(Slot(event: event))
        guard event.isAnnounced else {
            slots[position - base].state = .delivered
            return
        }
        guard !blocked.contains(event.customer) else {
            slots[position - base].state = .undelivered(UndeliveredEvent(waiting: event))
            return
        }
        enqueue(position, event.customer)
    }

    private mutating func enqueue(_ position: Int, _ customer: Int64) {
        var lane = lanes[customer] ?? Lane()
        if lane.isBusy {
            lane.queue.append(position)
        } else {
            lane.isBusy = true
            makeReady(position)
        }
        lanes[customer] = lane
    }

    private mutating func makeReady(_ position: Int) {
        ready.insert(position, at: ready.firstIndex { $0 < position } ?? ready.endIndex)
    }

    /// The next event to send, and its position.
    package mutating func takeNext() -> (position: Int, event: OutgoingEvent)? {
        ready.popLast().map { ($0, slots[$0 - base].event) }
    }

    func event(_ position: Int) -> OutgoingEvent { slots[position - base].event }

    /// An event that was taken was delivered.
    package mutating func deliver(_ position: Int) {
        slots[position - base].state = .delivered
        delivered += 1
        let customer = slots[position - base].event.customer
        guard var lane = lanes[customer] else { return }
        if lane.queue.isEmpty {
            lanes[customer] = nil
        } else {
            makeReady(lane.queue.removeFirst())
            lanes[customer] = lane
        }
    }

    /// An event that was taken was not delivered. The customer's other events wait behind it.
    mutating func fail(_ position: Int, _ undelivered: UndeliveredEvent) {
        slots[position - base].state = .undelivered(undelivered)
        let customer = slots[position - base].event.customer
        blocked.insert(customer)
        for waiting in lanes.removeValue(forKey: customer)?.queue ?? [] {
            let slot = slots[waiting - base]
            slots[waiting - base].state = .undelivered(UndeliveredEvent(waiting: slot.event))
        }
    }

    /// A customer has no more waiting events in the database.
    mutating func unblock(_ customer: Int64) {
        guard blocked.remove(customer) != nil else { return }
        for index in slots.indices where slots[index].event.customer == customer {
            guard case .undelivered(let event) = slots[index].state, event.state == .waiting else { continue }
            slots[index].state = .queued
            enqueue(base + index, customer)
        }
    }

    /// The events at the beginning whose outcome is known.
    package var settled: (count: Int, cursor: Int64, undelivered: [UndeliveredEvent])? {
        var undelivered: [UndeliveredEvent] = []
        var count = 0
        for slot in slots {
            if case .queued = slot.state { break }
            if case .undelivered(let event) = slot.state { undelivered.append(event) }
            count += 1
        }
        return count == 0 ? nil : (count, slots[count - 1].event.key, undelivered)
    }

    /// Whether the outcome of the first event is known.
    var isBeginningSettled: Bool {
        guard let first = slots.first else { return false }
        if case .queued = first.state { return false }
        return true
    }

    /// Forgets events at the beginning, which were recorded.
    package mutating func removeFirst(_ count: Int) {
        for slot in slots.prefix(count) where slot.event.isAnnounced {
            if case .delivered = slot.state { delivered -= 1 }
        }
        slots.removeFirst(count)
        base += count
    }
}

/// How many deliveries of a webhook are not recorded, and how many may be.
///
/// What a server delivered and did not record is sent again after it was killed. So it begins with few and doubles
/// their number with each record: a server that is killed soon repeats few, however fast its receiver is.
package struct UnrecordedDeliveries: Sendable {
    /// The attempts before the first record.
    package static let first = 8
    /// The attempts that are repeated at most after a kill, unless they wait for the record of an attempt that takes
    /// long. A record of so many costs little beside their requests.
    package static let most = 64

    /// The attempts that may be under way or unrecorded.
    package private(set) var allowance = first
    private let window: Int
    private var delivered = 0

    /// - Parameter window: the number of attempts that more do not matter for.
    package init(window: Int) { self.window = window }

    /// Whether no further attempt may begin.
    package func isFull(with underWay: Int) -> Bool { underWay + delivered >= allowance }

    /// Whether so many are not recorded that a record is due at once.
    package var isRecordDue: Bool { 2 * delivered >= allowance }

    /// Notes deliveries.
    package mutating func add(_ count: Int) { delivered += count }

    /// A record ended.
    ///
    /// - Parameters:
    ///   - remaining: the deliveries that it could not record, because they came after an attempt that takes long.
    ///   - hadOutcomes: whether it recorded any.
    package mutating func recorded(remaining: Int, hadOutcomes: Bool) {
        delivered = remaining
        if hadOutcomes { allowance = min(2 * allowance, window, Self.most) }
    }

    /// Time passed in which nothing could be recorded, because the first event takes long. Others do not wait for it.
    package mutating func allowMore() { allowance = min(2 * allowance, window) }
}

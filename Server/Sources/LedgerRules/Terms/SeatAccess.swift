public import PurchaseVerification

/// When a product of a subscription gives access to those who claimed its seats, and to how many of them.
///
/// It is stored once for each product of a subscription, and each member's access follows from it when it is read. So a
/// renewal changes one row, however many members there are.
public struct SeatAccess: Sendable, Hashable {
    /// When it gives access at all.
    public let timeline: AccessTimeline
    /// The number of seats, ordered by time. Each holds until the next one. Neighbours differ.
    public let numbers: [Number]

    /// The number of seats from a time on.
    public struct Number: Sendable, Hashable {
        public var at: Timestamp
        public var seats: Int64

        package init(at: Timestamp, seats: Int64) { (self.at, self.seats) = (at, seats) }
    }

    /// A claim of a seat.
    public struct Claim: Sendable, Hashable {
        public var claimedAt: Timestamp
        /// When it ended; `nil` if it did not.
        public var endedAt: Timestamp?
        /// The number of older claims at the time in question.
        public var olderClaims: Int64

        /// A claim.
        public init(claimedAt: Timestamp, endedAt: Timestamp? = nil, olderClaims: Int64) {
            (self.claimedAt, self.endedAt, self.olderClaims) = (claimedAt, endedAt, olderClaims)
        }
    }

    /// - Parameter numbers: the number of seats at each time at which it can change, ordered by time.
    package init(timeline: AccessTimeline, numbers: [Number]) {
        self.timeline = timeline
        self.numbers = numbers.reduce(into: []) { numbers, number in
            if numbers.last?.seats != number.seats { numbers.append(number) }
        }
    }

    /// The number of seats at a time, whether or not there is access.
    package func number(at moment: Timestamp) -> Int64 { numbers.last { $0.at <= moment }?.seats ?? 0 }

    /// The number of claims that have access at a time.
    public func number(_ question: AccessQuestion) -> Int64 {
        guard let state = timeline.state(question), state.step.givesAccess else { return 0 }
        return number(at: max(question.moment, state.step.at))
    }

    /// The access of a claim: that of the subscription, while fewer claims are older than seats exist.
    ///
    /// The number of older claims is that of the time in question, so only the state at that time is exact.
    public func timeline(of claim: Claim) -> AccessTimeline {
        let end = claim.endedAt.map { max($0, claim.claimedAt) }
        var steps: [AccessTimeline.Step] = []
        for time in Set(timeline.steps.map(\.at) + numbers.map(\.at) + [claim.claimedAt]).sorted()
        where time >= claim.claimedAt && end.map({ time < $0 }) ?? true {
            guard var step = timeline.steps.last(where: { $0.at <= time }) else { continue }
            if step.at < time || time == claim.claimedAt { (step.at, step.lead) = (time, 0) }
            // A seat is never assumed to be renewed.
            step.lapse = nil
            if step.givesAccess, number(at: time) <= claim.olderClaims { step.reason = .noSeat }
            steps.append(step)
        }
        if let end {
            steps.append(
                AccessTimeline.Step(at: end, lead: 0, reason: .seatUnclaimed, transaction: steps.last?.transaction))
        }
        return AccessTimeline(steps)
    }
}

/// The number of occurrences in histories of notifications.
struct NewsCounts: CustomStringConvertible, Sendable {
    var histories = 0
    var events = 0
    var notifications = 0
    var claims = 0
    var repeated = 0
    var signedAgain = 0
    var outOfOrder = 0
    var answers = 0
    var activeAnswers = 0
    var truths = 0
    var seats = 0
    var renewals = 0
    var kinds: [String: Int] = [:]

    static func += (left: inout NewsCounts, right: NewsCounts) {
        left.histories += right.histories
        left.events += right.events
        left.notifications += right.notifications
        left.claims += right.claims
        left.repeated += right.repeated
        left.signedAgain += right.signedAgain
        left.outOfOrder += right.outOfOrder
        left.answers += right.answers
        left.activeAnswers += right.activeAnswers
        left.truths += right.truths
        left.seats += right.seats
        left.renewals += right.renewals
        left.kinds.merge(right.kinds, uniquingKeysWith: +)
    }

    var description: String {
        """
        \(histories) histories, \(events) events; \(notifications) notifications and \(claims) claims, \
        \(repeated) delivered again, \(signedAgain) of them signed again, \(outOfOrder) behind a later one; \
        \(answers) answers compared with the pure rules, \(activeAnswers) of them with access; \
        \(truths) answers compared with the store, \(seats) numbers of seats, \(renewals) renewals; \
        \(kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        """
    }
}

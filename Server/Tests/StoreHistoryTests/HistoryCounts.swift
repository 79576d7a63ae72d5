/// The number of occurrences in a history.
struct HistoryCounts: CustomStringConvertible, Sendable {
    var steps = 0
    var refusedSteps = 0
    var moves = 0
    var deliveries = 0
    var lost = 0
    var duplicates = 0
    var delayed = 0
    var uses = 0
    var refusedUses = 0
    var questions = 0
    var activeAnswers = 0
    var inactiveAnswers = 0
    var shortfalls = 0

    var description: String {
        """
        \(steps) steps done, \(refusedSteps) refused; \(moves) moves; \(uses) uses, \(refusedUses) refused; \
        evidence \(deliveries) delivered, \(lost) lost, \(delayed) late, \(duplicates) twice; \
        \(questions) questions: \(activeAnswers) answers with access, \(inactiveAnswers) without, \
        \(shortfalls) with a shortfall
        """
    }
}

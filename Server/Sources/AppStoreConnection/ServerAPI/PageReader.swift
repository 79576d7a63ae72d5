/// An operation whose answer is one page of a list.
public protocol PagedOperation: AppStoreServerOperation where Answer: AppStorePage {
    /// The most pages of one list.
    static var mostPages: Int { get }
    /// Where the page begins: what the page before said; `nil` for the first page.
    var place: String? { get set }
}

/// A page of a list.
public protocol AppStorePage: Sendable {
    /// Where the next page begins; `nil` on the last one.
    var next: String? { get }
}

/// Reads a list to its end, one page after the other.
///
/// Nothing in a page says how long the list is, and a faulty or false store could answer for ever. So a page that leads
/// to one that was read already, and one beyond `mostPages`, is an unreadable answer that ends the reading.
public struct PageReader<Operation: PagedOperation>: Sendable {
    private let server: any AppStoreServer
    private let app: AppStoreServerApp
    /// Asks for the next page; `nil` at the end.
    private var operation: Operation?
    private var places: Set<String?>
    /// The environment that answered; before the first page, the one to ask.
    public private(set) var environment: ValidationEnvironment?
    /// The pages of the list that were read.
    public private(set) var count: Int

    /// - Parameters:
    ///   - operation: asks for the page to begin with.
    ///   - environment: the environment to ask; `nil` as for a call.
    ///   - count: the pages before, which were read earlier.
    public init(
        _ operation: Operation, _ server: any AppStoreServer, for app: AppStoreServerApp,
        in environment: ValidationEnvironment? = nil, after count: Int = 0
    ) {
        (self.server, self.app, self.operation) = (server, app, operation)
        (self.environment, self.count, places) = (environment, count, [operation.place])
    }

    /// The next page; `nil` after the last one.
    ///
    /// - Throws: the errors of the call; `isEndless` for a list without an end.
    public mutating func next() async throws(AppStoreServerError) -> Operation.Answer? {
        guard let operation else { return nil }
        guard count < Operation.mostPages else { throw endless("more than \(Operation.mostPages) pages") }
        let answer = try await server.call(operation, for: app, in: environment)
        (environment, count) = (answer.environment, count + 1)
        let next = answer.value.next
        guard next == nil || places.insert(next).inserted else {
            throw endless("page \(count) leads to a page that was read already")
        }
        self.operation = next == nil ? nil : operation
        self.operation?.place = next
        return answer.value
    }

    private func endless(_ seen: String) -> AppStoreServerError {
        AppStoreServerError(.unreadable, environment ?? .production, seen: seen, isEndless: true)
    }
}

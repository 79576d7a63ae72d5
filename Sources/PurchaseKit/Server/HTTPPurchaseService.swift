public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The purchase server over HTTP, by `URLSession`: no redirects, no cache, no cookies, at most 4 MiB of an answer.
public final class HTTPPurchaseService: PurchaseService {
    private let server: URL
    private let session: URLSession
    private let exchanges: HTTPExchanges

    /// - Parameters:
    ///   - server: the address of the server or of a relay, such as `https://purchases.example.com`; paths are appended
    ///     to it.
    ///   - timeout: how long one request may take, in seconds.
    public init(server: URL, timeout: Double = 30) {
        self.server = server
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = timeout
        configuration.timeoutIntervalForResource = timeout
        exchanges = HTTPExchanges()
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    public func send(_ request: ServiceRequest) async throws -> ServiceAnswer {
        let path = request.path.hasPrefix("/") ? String(request.path.dropFirst()) : request.path
        var sent = URLRequest(url: server.appendingPathComponent(path))
        sent.httpMethod = request.method
        for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
        if !request.body.isEmpty { sent.httpBody = Data(request.body) }
        let task = session.dataTask(with: sent)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchanges.begin(task.taskIdentifier, continuation)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }
}

/// The answers that are arriving.
///
/// Unchecked, because the lock guards everything that changes.
private final class HTTPExchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var arriving: [Int: Exchange] = [:]
    /// Tasks that were cancelled before their exchange began.
    private var endedEarly: Set<Int> = []

    private struct Exchange {
        let continuation: CheckedContinuation<ServiceAnswer, any Error>
        var status = 0
        var headers: [String: String] = [:]
        var body: [UInt8] = []
    }

    func begin(_ task: Int, _ continuation: CheckedContinuation<ServiceAnswer, any Error>) {
        lock.lock()
        let hasEnded = endedEarly.remove(task) != nil
        if !hasEnded { arriving[task] = Exchange(continuation: continuation) }
        lock.unlock()
        if hasEnded { continuation.resume(throwing: PurchaseError(.connectionFailed, found: "cancelled")) }
    }

    /// A redirect is not followed; it is itself the answer.
    func urlSession(
        _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse,
        newRequest _: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }

    func urlSession(
        _: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        lock.lock()
        if let response = response as? HTTPURLResponse {
            arriving[dataTask.taskIdentifier]?.status = response.statusCode
            for (name, value) in response.allHeaderFields {
                guard let name = name as? String, let value = value as? String else { continue }
                arriving[dataTask.taskIdentifier]?.headers[name.lowercased()] = value
            }
        }
        lock.unlock()
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.lock()
        arriving[dataTask.taskIdentifier]?.body.append(contentsOf: data)
        let isTooLarge = arriving[dataTask.taskIdentifier].map { $0.body.count > ServiceAnswer.largestBody } ?? false
        lock.unlock()
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        lock.lock()
        let exchange = arriving.removeValue(forKey: task.taskIdentifier)
        if exchange == nil { endedEarly.insert(task.taskIdentifier) }
        lock.unlock()
        guard let exchange else { return }
        if exchange.body.count > ServiceAnswer.largestBody {
            exchange.continuation.resume(throwing: PurchaseError(.answerTooLarge))
        } else if let error {
            exchange.continuation.resume(throwing: PurchaseError(.connectionFailed, found: "\(error)"))
        } else {
            exchange.continuation.resume(
                returning: ServiceAnswer(status: exchange.status, headers: exchange.headers, body: exchange.body))
        }
    }
}

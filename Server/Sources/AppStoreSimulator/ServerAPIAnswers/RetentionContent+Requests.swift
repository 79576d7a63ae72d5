import EvidenceMint
import Foundation

extension RetentionContent {
    private static let mostImages = 2000
    private static let mostMessages = 2000
    private static let longestHeader = 66
    private static let longestBody = 144
    private static let longestAltText = 150
    private static let longestBulletPoint = 66
    private static let mostBulletPoints = 5

    /// `PUT` and `DELETE …/image/{UUID}`, `GET …/image/list`.
    mutating func imageAnswer(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        if request.operation == .images {
            let list = images.sorted { $0.value.number < $1.value.number }.map { id, image in
                ClaimValue.object([
                    Claim("imageIdentifier", .string(id)), Claim("imageState", .string(image.state)),
                    Claim("imageSize", .string(image.size)),
                ])
            }
            return ServerAPIAnswer([Claim("imageIdentifiers", .array(list))])
        }
        let id = try Self.identifier(request.path[0])
        if request.operation == .deleteImage {
            guard images[id] != nil else { throw ServerAPIFailure(4_040_014, "There is no such image.") }
            guard !messages.values.contains(where: { $0.images.contains(id) }) else {
                throw ServerAPIFailure(4_030_019, "A message uses the image.")
            }
            images[id] = nil
            return ServerAPIAnswer(status: 200)
        }
        let size = request.value("imageSize") ?? "FULL_SIZE"
        guard size == "FULL_SIZE" || size == "BULLET_POINT" else {
            throw ServerAPIFailure(4_000_216, "The size of an image is FULL_SIZE or BULLET_POINT.")
        }
        guard let picture = PNGHeader(request.body), !picture.isTransparent,
            size != "FULL_SIZE" || picture.width == 3840 && (160...2160).contains(picture.height)
        else {
            throw ServerAPIFailure(
                4_000_161, "The image is no PNG without transparency, or not 3840 pixels wide and 160 to 2160 high.")
        }
        guard images[id] == nil else { throw ServerAPIFailure(4_090_000, "The image exists already.") }
        guard images.count < Self.mostImages else { throw ServerAPIFailure(4_030_014, "There are too many images.") }
        images[id] = Image(size: size, state: "APPROVED", number: nextNumber)
        return ServerAPIAnswer(status: 200)
    }

    /// `PUT` and `DELETE …/message/{UUID}`, `GET …/message/list`.
    mutating func messageAnswer(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        if request.operation == .messages {
            let list = messages.sorted { $0.value.number < $1.value.number }.map { id, message in
                ClaimValue.object([
                    Claim("messageIdentifier", .string(id)), Claim("messageState", .string(message.state)),
                ])
            }
            return ServerAPIAnswer([Claim("messageIdentifiers", .array(list))])
        }
        let id = try Self.identifier(request.path[0])
        if request.operation == .deleteMessage {
            guard messages[id] != nil else { throw ServerAPIFailure(4_040_015, "There is no such message.") }
            messages[id] = nil
            defaults = defaults.filter { $0.value != id }
            return ServerAPIAnswer(status: 200)
        }
        let used = try checkMessage(try request.object())
        guard messages[id] == nil else { throw ServerAPIFailure(4_090_001, "The message exists already.") }
        guard messages.count < Self.mostMessages else {
            throw ServerAPIFailure(4_030_016, "There are too many messages.")
        }
        messages[id] = Message(images: used, state: "APPROVED", number: nextNumber)
        return ServerAPIAnswer(status: 200)
    }

    /// Checks the content of a message.
    /// - Returns: the images that it uses.
    private func checkMessage(_ body: APIObject) throws -> [String] {
        let invalidHeader = ServerAPIFailure(4_000_162, "The header has 1 to \(Self.longestHeader) characters.")
        guard let header = try body.string("header", or: invalidHeader), (1...Self.longestHeader).contains(header.count)
        else { throw invalidHeader }
        let invalidBody = ServerAPIFailure(4_000_163, "The body has 1 to \(Self.longestBody) characters.")
        guard let text = try body.string("body", or: invalidBody), (1...Self.longestBody).contains(text.count) else {
            throw invalidBody
        }
        var used: [String] = []
        if let image = try body.object("image", or: .generalBadRequest) {
            used.append(try checkImage(image, "FULL_SIZE"))
        }
        if let position = try body.string("headerPosition", or: .generalBadRequest) {
            guard position == "ABOVE_BODY" || position == "ABOVE_IMAGE" else {
                throw ServerAPIFailure.generalBadRequest
            }
            guard position != "ABOVE_IMAGE" || !used.isEmpty else {
                throw ServerAPIFailure(4_000_224, "A header above the image needs an image.")
            }
        }
        let points = try body.objects("bulletPoints", or: .generalBadRequest) ?? []
        guard points.count <= Self.mostBulletPoints else {
            throw ServerAPIFailure(4_000_218, "A message has at most \(Self.mostBulletPoints) bullet points.")
        }
        for point in points {
            let invalidText = ServerAPIFailure(
                4_000_219, "A bullet point has 1 to \(Self.longestBulletPoint) characters.")
            guard let text = try point.string("text", or: invalidText),
                (1...Self.longestBulletPoint).contains(text.count)
            else { throw invalidText }
            used.append(try checkImage(point, "BULLET_POINT"))
        }
        return used
    }

    /// - Returns: the identifier of the image.
    private func checkImage(_ reference: APIObject, _ size: String) throws -> String {
        let invalidAltText = ServerAPIFailure(
            4_000_175, "The alternative text has at most \(Self.longestAltText) characters.")
        guard let altText = try reference.string("altText", or: invalidAltText), altText.count <= Self.longestAltText
        else { throw invalidAltText }
        let unknown = ServerAPIFailure(4_040_014, "There is no such image.")
        guard let id = try reference.string("imageIdentifier", or: unknown)?.lowercased(), let image = images[id] else {
            throw unknown
        }
        guard image.size == size else { throw ServerAPIFailure(4_000_216, "The image has another size.") }
        return id
    }

    /// `PUT`, `GET` and `DELETE …/default/{productId}/{locale}`.
    mutating func defaultAnswer(_ request: ServerAPIRequest) throws -> ServerAPIAnswer {
        let locale = request.path[1]
        guard (2...35).contains(locale.utf8.count),
            locale.utf8.allSatisfy({ $0 < 0x80 }), locale.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" })
        else { throw ServerAPIFailure(4_000_164, "The locale has a wrong form.") }
        let key = "\(request.path[0])|\(locale)"
        switch request.operation {
        case .setDefaultMessage:
            let unknown = ServerAPIFailure(4_040_015, "There is no such message.")
            guard let id = try request.object().string("messageIdentifier", or: unknown)?.lowercased(),
                let message = messages[id]
            else { throw unknown }
            guard message.state == "APPROVED" else {
                throw ServerAPIFailure(4_030_017, "The message is not approved.")
            }
            defaults[key] = id
            return ServerAPIAnswer(status: 200)
        case .deleteDefaultMessage:
            guard defaults.removeValue(forKey: key) != nil else {
                throw ServerAPIFailure(4_040_020, "The product has no default message in this locale.")
            }
            return ServerAPIAnswer(status: 200)
        default:
            guard let id = defaults[key] else {
                throw ServerAPIFailure(4_040_020, "The product has no default message in this locale.")
            }
            return ServerAPIAnswer([Claim("messageIdentifier", .string(id))])
        }
    }

    /// `PUT`, `GET` and `DELETE …/realtime/url`.
    mutating func realtimeAnswer(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        switch request.operation {
        case .setRealtimeURL:
            let invalid = ServerAPIFailure(4_000_215, "The realtime URL is no address.")
            guard let url = try request.object().string("realtimeURL", or: invalid), url.utf8.count <= 256,
                NotificationSettings.isAddress(url)
            else { throw invalid }
            realtimeAddress = url
            return ServerAPIAnswer(status: 200)
        case .deleteRealtimeURL:
            guard realtimeAddress != nil else { throw Self.noRealtimeURL }
            realtimeAddress = nil
            return ServerAPIAnswer(status: 200)
        default:
            guard let realtimeAddress else { throw Self.noRealtimeURL }
            return ServerAPIAnswer([Claim("realtimeURL", .string(realtimeAddress))])
        }
    }

    private static let noRealtimeURL = ServerAPIFailure(4_040_021, "The app has no realtime URL.")

    private static func identifier(_ text: String) throws(ServerAPIFailure) -> String {
        guard let id = UUID(uuidString: text) else { throw .generalBadRequest }
        return id.uuidString.lowercased()
    }

    private var nextNumber: Int {
        (images.values.map(\.number) + messages.values.map(\.number)).reduce(0, max) + 1
    }
}

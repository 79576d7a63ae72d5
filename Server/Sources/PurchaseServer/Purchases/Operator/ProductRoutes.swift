import Hummingbird
import PurchaseAPI
import PurchaseLedger

/// `GET /v1/products`: the products that were ever named, so that an operator sees which the settings lack.
struct ProductRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("products") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let page = try await api.page(of: SoldProducts(app: app), request)
            return try Response.json(ProductList(products: page.entries, nextCursor: page.next?.text))
        }
    }
}

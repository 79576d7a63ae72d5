/// The templates of the search, a customer, a purchase, a claim, external purchases and an inspection.
enum CustomerTemplates {
    static let pages = [
        (
            "search",
            """
            {{> head}}<section><form class="row" method="post" action="/console/search" role="search">
            {{> form}}
            <div><label for="q">A customer, transaction, order or claim; or evidence, pasted whole</label>
            <input id="q" name="q" value="{{q}}" required autofocus></div>
            {{#manyApps}}<div><label for="app">App</label><select id="app" name="app">
            {{#apps}}<option{{#selected}} selected{{/selected}}>{{name}}</option>{{/apps}}</select></div>{{/manyApps}}
            {{^manyApps}}<input type="hidden" name="app" value="{{app}}">{{/manyApps}}
            <button class="main">Search</button></form>
            <p class="soft">Also Apple's order number, such as MK5TTTVWJH, from the customer's mail: Apple is asked about it.</p></section>
            {{#searched}}<section><h2>Found</h2>{{#found}}{{#isSimilar}}<p>Nothing has exactly this name; this begins so:</p>\
            {{/isSimilar}}<ul>{{#results}}<li>{{kind}} <a href="{{href}}">{{text}}</a></li>\
            {{/results}}</ul>{{/found}}{{^found}}{{#order}}<p>Nothing recorded has this name. {{order}}</p>{{/order}}\
            {{^order}}<p>Nothing recorded has this name: no purchase, order or customer, and no claim names it. If the customer \
            paid, ask them to open the app and use Restore Purchases. <span class="soft">Refusals beyond the daily budget have no \
            names: assay doctor counts them.</span></p>{{/order}}{{/found}}</section>{{/searched}}
            {{#submissions}}<section><h2>The latest claims that were not accepted</h2>{{> table}}</section>\
            {{/submissions}}{{> foot}}
            """
        ),
        (
            "customer",
            """
            {{> head}}<section><h2>What to say</h2>{{> answers}}{{#tester}}{{> act}}{{/tester}}</section>
            <section><h2>What the customer may use</h2>{{#entitlements}}{{> table}}{{/entitlements}}\
            {{^entitlements}}<p>Nothing.</p>{{/entitlements}}
            {{#balances}}<h3>Units of {{product}}, by purchase</h3>{{#lots}}{{> table}}{{/lots}}
            {{#hasMore}}<p class="soft">There are more: shown are the next to be used and the last used up.</p>\
            {{/hasMore}}{{/balances}}</section>
            {{#offers}}<section><h2>Offers</h2>{{> table}}</section>{{/offers}}
            {{#timeline}}<section><h2>Access over time</h2><p class="soft">A bar is a period, or what was bought once, and has \
            the colour of what became of it; the line is now. Of consumables only the purchases are drawn.</p>
            <p class="legend"><span><svg viewBox="0 0 12 12"><rect class="paid" x="1" y="3" width="10" height="6"/></svg> \
            paid</span> <span><svg viewBox="0 0 12 12"><rect class="withdrawn" x="1" y="3" width="10" height="6"/></svg> \
            refunded or revoked</span> <span><svg viewBox="0 0 12 12"><rect class="grace" x="1" y="3" width="10" \
            height="6"/></svg> grace period</span> <span><svg viewBox="0 0 12 12"><polygon class="purchase" \
            points="2,2 10,2 10,10 2,10"/></svg> purchase</span> <span><svg viewBox="0 0 12 12"><polygon class="renewal" \
            points="6,1 11,6 6,11 1,6"/></svg> renewal</span> <span><svg viewBox="0 0 12 12"><polygon class="refund" \
            points="2,1 10,1 6,11"/></svg> refund</span> <span><svg viewBox="0 0 12 12"><polygon class="claim" \
            points="2,10 10,10 6,2"/></svg> claim</span> <span><svg viewBox="0 0 12 12"><polygon class="claim refused" \
            points="2,10 10,10 6,2"/></svg> refused claim</span></p>
            <div class="table" tabindex="0" role="region" aria-label="Access over time">
            <svg class="access" viewBox="0 0 600 {{height}}" role="img" aria-label="Access to {{count}} over time">
            {{#ticks}}<line class="tick" x1="{{x}}" x2="{{x}}" y1="0" y2="{{axisY}}"/>\
            <text class="axis {{style}}" x="{{x}}" y="{{labelY}}">{{words}}</text>{{/ticks}}
            {{#rows}}<text x="4" y="{{textY}}">{{product}}</text>{{#bars}}<rect class="{{style}}" x="{{x}}" y="{{y}}" \
            width="{{width}}" height="10"><title>{{words}}</title></rect>{{/bars}}{{#marks}}<polygon class="{{style}}" \
            points="{{points}}"><title>{{words}}</title></polygon>{{/marks}}{{/rows}}\
            <line class="now" x1="{{now}}" x2="{{now}}" y1="0" y2="{{axisY}}"/></svg></div></section>{{/timeline}}
            {{#purchases}}<section><h2>Purchases</h2>{{> table}}{{#nextPurchases}}<p><a href="{{nextPurchases}}">Earlier \
            purchases</a></p>{{/nextPurchases}}</section>{{/purchases}}
            {{#hasOrders}}<section><h2>Orders</h2><ul>{{#orders}}<li>{{#text}}{{> text}}{{/text}}</li>{{/orders}}</ul>\
            </section>{{/hasOrders}}
            {{#submissions}}<section><h2>The latest claims</h2>{{> table}}</section>{{/submissions}}
            {{#hasActs}}<section><h2>Grants and revocations</h2>{{#acts}}<div class="act"><p>{{#text}}{{> text}}{{/text}}</p>\
            {{#canLift}}<form method="post" action="/console/customer">{{> hidden}}
            <input type="hidden" name="act" value="lift"><input type="hidden" name="target" value="{{id}}">
            <div><label for="lift-{{id}}">Reason</label><input id="lift-{{id}}" name="reason" required></div>
            <button class="main">End it</button></form>{{/canLift}}</div>{{/acts}}</section>{{/hasActs}}
            {{#canAct}}<section><h2>Acts</h2><p class="soft">Each is an entry of the journal, under the name {{operator}}.</p>
            {{#forms}}{{> act}}{{/forms}}</section>{{/canAct}}
            <section><h2>Events, the latest first</h2>{{#hasEvents}}<ul>{{#events}}<li>{{#at}}{{> text}}{{/at}} \
            <strong>{{text}}</strong> {{product}} {{#reason}}{{> text}}{{/reason}} \
            {{#deliveries}}<br><span class="soft">{{#text}}{{> text}}{{/text}}</span>{{/deliveries}}</li>{{/events}}</ul>\
            {{/hasEvents}}{{#nextEvents}}<p><a href="{{nextEvents}}">Earlier events</a></p>{{/nextEvents}}</section>
            {{> packs}}{{> foot}}
            """
        ),
        (
            "purchase",
            """
            {{> head}}<datalist id="claimants">{{#claimants}}<option value="{{name}}"></option>{{/claimants}}</datalist>
            {{#unknown}}<p class="note">No purchase of this transaction is recorded. Only the claims below name it, and none was \
            accepted.</p>{{/unknown}}{{#stories}}<section><h2>{{heading}}</h2><dl>{{#facts}}{{> fact}}{{/facts}}</dl>
            {{#ownerHref}}<p>Owner: <a href="{{ownerHref}}">{{owner}}</a></p>{{/ownerHref}}
            {{^ownerHref}}<p>Nobody owns it: it is held.</p>{{/ownerHref}}
            {{#give}}<details class="act"{{#isOpen}} open{{/isOpen}}><summary>Give it to…</summary><form method="post" action="/console/customer">
            {{> form}}<input type="hidden" name="app" value="{{app}}"><input type="hidden" name="act" value="give">
            <input type="hidden" name="target" value="{{transaction}}">
            <input type="hidden" name="second" value="{{environment}}">
            <div><label for="give-{{environment}}">The customer</label><input id="give-{{environment}}" name="id" \
            value="{{to}}" list="claimants" required></div>
            <div><label for="reason-{{environment}}">Reason</label><input id="reason-{{environment}}" name="reason" \
            value="{{reason}}" required></div><button class="main">Give it to this customer</button></form></details>{{/give}}</section>
            <section><h2>What to say</h2>{{> answers}}{{#tester}}{{> act}}{{/tester}}</section>{{/stories}}
            {{#submissions}}<section><h2>Who claimed it</h2>{{> table}}</section>{{/submissions}}
            {{#news}}<section><h2>What Apple said</h2>{{> table}}</section>{{/news}}
            {{> evidence}}{{#links}}<p><a href="{{href}}">{{text}}</a></p>{{/links}}{{> packs}}{{> foot}}
            """
        ),
        (
            "submission",
            """
            {{> head}}<p class="note">{{sentence}} <strong>{{action}}</strong></p>
            <section><dl>{{#facts}}{{> fact}}{{/facts}}</dl>{{#links}}<p><a href="{{href}}">{{text}}</a></p>{{/links}}</section>
            {{> evidence}}{{> foot}}
            """
        ),
        (
            "external",
            """
            {{> head}}<section>{{#apps}}<p><a href="{{href}}">{{name}}</a></p>{{/apps}}
            <p>{{#states}}<a href="{{href}}"{{#isChosen}} aria-current="true"{{/isChosen}}>{{name}}</a> {{/states}}</p>
            {{#tokens}}{{> table}}{{/tokens}}{{^tokens}}<p>No backend stated such a token, and no notification of Apple's named \
            one.</p>{{/tokens}}{{#next}}<p><a href="{{next}}">Earlier tokens</a></p>{{/next}}</section>{{> foot}}
            """
        ),
        (
            "external-token",
            """
            {{> head}}<section><dl>{{#facts}}{{> fact}}{{/facts}}</dl></section>
            {{#items}}<section><h2>Line items</h2>{{> table}}{{#more}}<p class="soft">{{.}}</p>{{/more}}</section>{{/items}}{{> foot}}
            """
        ),
        (
            "evidence",
            """
            {{#inspected}}<section><h2>The evidence, checked now</h2>{{> inspection}}</section>{{/inspected}}\
            {{#notInspected}}<p>The evidence was not checked now, because others are inspecting; load the page again.</p>\
            {{/notInspected}}
            """
        ),
        (
            "inspect",
            """
            {{> head}}{{#inspected}}<section><h2>Result</h2>{{> inspection}}</section>{{/inspected}}
            <section><form method="post" action="/console/inspect" enctype="multipart/form-data">{{> hidden}}
            <div><label for="evidence">A receipt in base64, or signed data (JWS)</label>
            <textarea id="evidence" name="evidence"></textarea></div>
            <div><label for="file">Or a file: choose it, or drop it here</label>
            <input id="file" name="file" type="file"></div><p><button class="main">Inspect</button></p></form>
            <p class="soft">Nothing is recorded and nothing is granted.</p></section>{{> foot}}
            """
        ),
    ]
}

/// The templates of the search, a customer, a purchase, a claim and an inspection.
enum CustomerTemplates {
    static let pages = [
        (
            "search",
            """
            {{> head}}<form class="row" method="post" action="/console/search" role="search">
            {{> form}}
            <div><label for="q">A customer, transaction, order or claim; or evidence, pasted whole</label>
            <input id="q" name="q" value="{{q}}" required autofocus></div>
            {{#manyApps}}<div><label for="app">App</label><select id="app" name="app">
            {{#apps}}<option{{#selected}} selected{{/selected}}>{{name}}</option>{{/apps}}</select></div>{{/manyApps}}
            {{^manyApps}}<input type="hidden" name="app" value="{{app}}">{{/manyApps}}
            <button>Search</button></form>
            <p class="soft">Also Apple's order number, such as MK5TTTVWJH, from the customer's mail: Apple is asked about it.</p>
            {{#searched}}<h2>Found</h2>{{#found}}{{#isSimilar}}<p>Nothing has exactly this name; this begins so:</p>\
            {{/isSimilar}}<ul>{{#results}}<li>{{kind}} <a href="{{href}}">{{text}}</a></li>\
            {{/results}}</ul>{{/found}}{{^found}}{{#order}}<p>Nothing recorded has this name. {{order}}</p>{{/order}}\
            {{^order}}<p>Nothing recorded has this name: no purchase, order or customer, and no claim names it. If the customer \
            paid, ask them to open the app and use Restore Purchases. <span class="soft">Refusals beyond the daily budget have no \
            names: assay doctor counts them.</span></p>{{/order}}{{/found}}{{/searched}}
            {{#hasRefused}}<h2>The latest claims that were not accepted</h2>{{> submissions}}{{/hasRefused}}{{> foot}}
            """
        ),
        (
            "customer",
            """
            {{> head}}{{#merged}}<p class="note">The customer {{merged}} was merged into this one.</p>{{/merged}}
            <h2>What to say</h2>{{> answers}}
            <h2>What the customer may use</h2>{{#hasEntitlements}}
            <div class="table" tabindex="0" role="region" aria-label="Entitlements"><table>
            <thead><tr><th scope="col">Product</th><th scope="col">State</th><th scope="col">Why</th>\
            <th scope="col">Since</th><th scope="col">Until</th><th scope="col">Units</th></tr></thead><tbody>
            {{#entitlements}}<tr><td>{{product}}</td><td>{{state}}</td><td>{{why}}</td><td>{{since}}</td>\
            <td>{{until}}</td><td>{{units}}</td></tr>{{/entitlements}}</tbody></table></div>{{/hasEntitlements}}
            {{^hasEntitlements}}<p>Nothing.</p>{{/hasEntitlements}}
            {{#balances}}<h3>Units of {{product}}, by purchase</h3>
            <div class="table" tabindex="0" role="region" aria-label="Units of {{product}}"><table>
            <thead><tr><th scope="col">Bought</th><th scope="col">From</th><th scope="col">Units</th>\
            <th scope="col">Used</th><th scope="col">Withdrawn</th><th scope="col">Left</th></tr></thead><tbody>
            {{#lots}}<tr><td>{{bought}}</td><td>{{#lotHref}}<a href="{{lotHref}}">{{source}}</a>{{/lotHref}}\
            {{^lotHref}}{{source}}{{/lotHref}}</td><td>{{quantity}}</td><td>{{taken}}</td><td>{{withdrawn}}</td>\
            <td>{{available}}</td></tr>{{/lots}}</tbody></table></div>
            {{#hasMore}}<p class="soft">There are more: shown are the next to be used and the last used up.</p>\
            {{/hasMore}}{{/balances}}
            {{#timeline}}<h2>Access over time</h2><p class="soft">From {{from}} to {{to}}; the line is now. The tables \
            say what each mark is. Of consumables only the purchases are drawn.</p>
            <p class="legend"><span><svg viewBox="0 0 12 12"><polygon class="purchase" points="2,2 10,2 10,10 2,10"/></svg> purchase</span> <span><svg viewBox="0 0 12 12"><polygon class="renewal" \
            points="6,1 11,6 6,11 1,6"/></svg> renewal</span> <span><svg viewBox="0 0 12 12"><polygon class="refund" \
            points="2,1 10,1 6,11"/></svg> refund</span> <span><svg viewBox="0 0 12 12"><polygon class="claim" \
            points="2,10 10,10 6,2"/></svg> claim</span> <span><svg viewBox="0 0 12 12"><polygon class="claim refused" \
            points="2,10 10,10 6,2"/></svg> refused claim</span> <span><svg viewBox="0 0 12 12"><rect class="bar grace" \
            x="1" y="3" width="10" height="6"/></svg> grace period</span></p>
            <div class="table" tabindex="0" role="region" aria-label="Access over time">
            <svg viewBox="0 0 600 {{height}}" role="img" aria-label="Access to {{count}} products over time">
            {{#rows}}<text x="4" y="{{textY}}">{{product}}</text>{{#bars}}<rect class="{{style}}" x="{{x}}" y="{{y}}" \
            width="{{width}}" height="10"/>{{/bars}}{{#marks}}<polygon class="{{style}}" points="{{points}}">\
            <title>{{words}}</title></polygon>{{/marks}}{{/rows}}\
            <line class="now" x1="{{now}}" x2="{{now}}" y1="0" y2="{{height}}"/></svg></div>{{/timeline}}
            {{#hasPurchases}}<h2>Purchases</h2>{{> purchases}}{{#nextPurchases}}<p><a href="{{nextPurchases}}">Earlier \
            purchases</a></p>{{/nextPurchases}}{{/hasPurchases}}
            {{#hasOrders}}<h2>Orders</h2><ul>{{#orders}}<li>{{text}}</li>{{/orders}}</ul>{{/hasOrders}}
            {{#hasSubmissions}}<h2>The latest claims</h2>{{> submissions}}{{/hasSubmissions}}
            {{#hasActs}}<h2>Grants and revocations</h2>{{#acts}}<div class="act"><p>{{text}}</p>\
            {{#canLift}}<form method="post" action="/console/customer">{{> hidden}}
            <input type="hidden" name="act" value="lift"><input type="hidden" name="target" value="{{id}}">
            <div><label for="lift-{{id}}">Reason</label><input id="lift-{{id}}" name="reason" required></div>
            <button>End it</button></form>{{/canLift}}</div>{{/acts}}{{/hasActs}}
            <h2>Events, the latest first</h2>{{#hasEvents}}<ul>{{#events}}<li>{{at}} {{text}} {{product}} {{reason}} \
            {{#deliveries}}<br><span class="soft">{{text}}</span>{{/deliveries}}</li>{{/events}}</ul>\
            {{/hasEvents}}{{#nextEvents}}<p><a href="{{nextEvents}}">Earlier events</a></p>{{/nextEvents}}
            {{> packs}}{{#canAct}}<h2>Acts</h2><p>Each is an entry of the journal, under the name {{operator}}.</p>
            {{#forms}}<details class="act"><summary>{{label}}</summary><form method="post" action="/console/customer">
            {{> hidden}}<input type="hidden" name="act" value="{{act}}">
            {{#target}}<div><label for="{{act}}-target">{{target}}</label><input id="{{act}}-target" name="target" \
            required></div>{{/target}}
            {{#second}}<div><label for="{{act}}-second">{{second}}</label><input id="{{act}}-second" \
            name="second"></div>{{/second}}
            <div><label for="{{act}}-reason">Reason</label><input id="{{act}}-reason" name="reason" required></div>
            <button>{{label}}</button></form></details>{{/forms}}{{/canAct}}{{> foot}}
            """
        ),
        (
            "purchase",
            """
            {{> head}}<datalist id="claimants">{{#claimants}}<option value="{{name}}"></option>{{/claimants}}</datalist>
            {{#unknown}}<p class="note">No purchase of this transaction is recorded. Only the claims below name it, and none was \
            accepted.</p>{{/unknown}}{{#stories}}<h2>{{heading}}</h2><dl>{{#facts}}<dt>{{name}}</dt><dd>{{value}}</dd>{{/facts}}</dl>
            {{#ownerHref}}<p>Owner: <a href="{{ownerHref}}">{{owner}}</a></p>{{/ownerHref}}
            {{^ownerHref}}<p>Nobody owns it: it is held.</p>{{/ownerHref}}
            {{#give}}<details class="act"><summary>Give it to…</summary><form method="post" action="/console/customer">
            {{> form}}<input type="hidden" name="app" value="{{app}}"><input type="hidden" name="act" value="give">
            <input type="hidden" name="target" value="{{transaction}}">
            <input type="hidden" name="second" value="{{environment}}">
            <div><label for="give-{{environment}}">The customer</label><input id="give-{{environment}}" name="id" \
            list="claimants" required></div>
            <div><label for="reason-{{environment}}">Reason</label><input id="reason-{{environment}}" name="reason" \
            required></div><button>Give it to this customer</button></form></details>{{/give}}
            <h2>What to say</h2>{{> answers}}{{/stories}}
            {{#hasSubmissions}}<h2>Who claimed it</h2>{{> submissions}}{{/hasSubmissions}}
            {{#hasNews}}<h2>What Apple said</h2>
            <div class="table" tabindex="0" role="region" aria-label="Apple's notifications"><table>
            <thead><tr><th scope="col">Received</th><th scope="col">Signed</th><th scope="col">Notification</th>\
            <th scope="col">Reason</th><th scope="col">Proof</th></tr></thead><tbody>
            {{#news}}<tr><td>{{at}}</td><td>{{signed}}</td><td>{{type}}</td><td>{{reason}}</td>\
            <td><a href="{{href}}">{{entry}}</a></td></tr>{{/news}}</tbody></table></div>{{/hasNews}}
            {{#inspected}}<h2>The evidence, checked now</h2>{{> inspection}}{{/inspected}}\
            {{#notInspected}}<p>The evidence was not checked now, because others are inspecting; load the page again.</p>\
            {{/notInspected}}
            {{#links}}<p><a href="{{href}}">{{text}}</a></p>{{/links}}{{> packs}}{{> foot}}
            """
        ),
        (
            "submission",
            """
            {{> head}}<p class="note">{{sentence}} <strong>{{action}}</strong></p>
            <dl>{{#facts}}<dt>{{name}}</dt><dd>{{value}}</dd>{{/facts}}</dl>
            {{#links}}<p><a href="{{href}}">{{text}}</a></p>{{/links}}
            {{#inspected}}<h2>The evidence, checked now</h2>{{> inspection}}{{/inspected}}\
            {{#notInspected}}<p>The evidence was not checked now, because others are inspecting; load the page again.</p>\
            {{/notInspected}}{{> foot}}
            """
        ),
        (
            "inspect",
            """
            {{> head}}<form method="post" action="/console/inspect" enctype="multipart/form-data">{{> hidden}}
            <div><label for="evidence">A receipt in base64, or signed data (JWS)</label>
            <textarea id="evidence" name="evidence"></textarea></div>
            <div><label for="file">Or a file: choose it, or drop it here</label>
            <input id="file" name="file" type="file"></div><p><button>Inspect</button></p></form>
            <p class="soft">Nothing is recorded and nothing is granted.</p>
            {{#inspected}}<h2>Result</h2>{{> inspection}}{{#links}}<p><a href="{{href}}">{{text}}</a></p>{{/links}}\
            {{/inspected}}{{> foot}}
            """
        ),
    ]
}

/// The templates of sign-in and of the operators.
enum AccountTemplates {
    static let pages = [
        (
            "sign-in",
            """
            {{> head}}<form method="post" action="/console/sign-in">
            <div><label for="name">Name</label><input id="name" name="name" autocomplete="username" required></div>
            <div><label for="password">Password</label><input id="password" name="password" type="password" \
            autocomplete="current-password" required></div>
            <p><button>Sign in</button></p></form>{{> foot}}
            """
        ),
        (
            "link",
            """
            {{> head}}<p>The password of {{name}}: at least {{shortest}} characters.</p>
            <form method="post" action="/console/link"><input type="hidden" name="secret" value="{{secret}}">
            <input type="hidden" name="username" value="{{name}}" autocomplete="username">
            <div><label for="password">Password</label><input id="password" name="password" type="password" \
            autocomplete="new-password" minlength="{{shortest}}" required></div>
            <div><label for="again">Password again</label><input id="again" name="again" type="password" \
            autocomplete="new-password" required></div>
            <p><button>Set the password</button></p></form>{{> foot}}
            """
        ),
        (
            "operators",
            """
            {{> head}}{{#link}}<p class="note">Send this link to the operator; it works once, for a day:<br>\
            <code>{{link}}</code></p>{{/link}}
            <h2>Operators</h2><div class="table" tabindex="0" role="region" aria-label="Operators"><table>
            <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">State</th>\
            {{#isAdmin}}<th scope="col">Change</th>{{/isAdmin}}</tr></thead><tbody>
            {{#operators}}<tr><td>{{name}}</td><td>{{accountRole}}</td><td>{{state}}</td>{{#isAdmin}}<td>\
            <form method="post" action="/console/operators">{{> form}}\
            <input type="hidden" name="name" value="{{name}}"><button name="act" value="link" \
            aria-label="New link for {{name}}">New link</button> <button name="act" value="remove" \
            aria-label="Remove {{name}}">Remove</button></form></td>{{/isAdmin}}</tr>{{/operators}}</tbody></table></div>
            {{#isAdmin}}<h2>Add an operator</h2><form class="row" method="post" action="/console/operators">
            {{> form}}
            <div><label for="new-name">Name</label><input id="new-name" name="name" required></div>
            <div><label for="new-role">Role</label><select id="new-role" name="role"><option>view</option>\
            <option>support</option><option>admin</option></select></div>
            <button name="act" value="add">Add</button></form>{{/isAdmin}}
            <h2>Your sessions</h2>{{#sessions}}<form class="line" method="post" \
            action="/console/operators">{{> form}}<input type="hidden" name="session" value="{{session}}"><span>{{text}}\
            </span> {{#canEnd}}<button name="act" value="end-one" aria-label="End the session {{text}}">End</button>\
            {{/canEnd}}</form>{{/sessions}}
            <form method="post" action="/console/operators">{{> form}}
            <button name="act" value="end">End the other sessions</button></form>
            <h2>Sign-ins and changes</h2><div class="table" tabindex="0" role="region" aria-label="Log"><table>
            <thead><tr><th scope="col">Time</th><th scope="col">Operator</th><th scope="col">What</th>\
            <th scope="col">By</th><th scope="col">Address</th></tr></thead><tbody>
            {{#log}}<tr><td>{{at}}</td><td>{{name}}</td><td>{{act}}</td><td>{{by}}</td><td>{{address}}</td></tr>{{/log}}
            </tbody></table></div>{{> foot}}
            """
        ),
        ("message", "{{> head}}<p><a href=\"/console\">To the first page</a></p>{{> foot}}"),
    ]
}

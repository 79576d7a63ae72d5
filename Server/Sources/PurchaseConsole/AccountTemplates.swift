/// The templates of sign-in and of the operators.
enum AccountTemplates {
    static let pages = [
        (
            "sign-in",
            """
            {{> head}}<section><p>The purchases of <strong>{{shop}}</strong></p>
            <form class="small" method="post" action="/console/sign-in">
            <div><label for="name">Name</label><input id="name" name="name" autocomplete="username" required></div>
            <div><label for="password">Password</label><input id="password" name="password" type="password" \
            autocomplete="current-password" required></div>
            <p><button class="main">Sign in</button></p></form></section>{{> foot}}
            """
        ),
        (
            "link",
            """
            {{> head}}<section><p>The password of {{name}} for the purchases of <strong>{{shop}}</strong>: at least \
            {{shortest}} characters.</p><form class="small" method="post" action="/console/link"><input type="hidden" name="secret" value="{{secret}}">
            <input type="hidden" name="username" value="{{name}}" autocomplete="username">
            <div><label for="password">Password</label><input id="password" name="password" type="password" \
            autocomplete="new-password" minlength="{{shortest}}" required></div>
            <div><label for="again">Password again</label><input id="again" name="again" type="password" \
            autocomplete="new-password" required></div>
            <p><button class="main">Set the password</button></p></form></section>{{> foot}}
            """
        ),
        (
            "operators",
            """
            {{> head}}{{#link}}<p class="note">Send this link to the operator; it works once, for a day:<br>\
            <code>{{link}}</code></p>{{/link}}
            <section><h2>Operators</h2><div class="table" tabindex="0" role="region" aria-label="Operators"><table>
            <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">State</th>\
            {{#isAdmin}}<th scope="col">Change</th>{{/isAdmin}}</tr></thead><tbody>
            {{#operators}}<tr><td data-label="Name">{{name}}</td><td data-label="Role">{{accountRole}}</td>\
            <td data-label="State">{{state}}</td>{{#isAdmin}}<td data-label="Change">\
            <form method="post" action="/console/operators">{{> form}}\
            <input type="hidden" name="name" value="{{name}}"><button name="act" value="link" \
            aria-label="New link for {{name}}">New link</button> <button name="act" value="remove" \
            aria-label="Remove {{name}}">Remove</button></form></td>{{/isAdmin}}</tr>{{/operators}}</tbody></table></div></section>
            {{#isAdmin}}<section><h2>Add an operator</h2><form class="row" method="post" action="/console/operators">
            {{> form}}
            <div><label for="new-name">Name</label><input id="new-name" name="name" required></div>
            <div><label for="new-role">Role</label><select id="new-role" name="role"><option>view</option>\
            <option>support</option><option>admin</option></select></div>
            <button class="main" name="act" value="add">Add</button></form></section>{{/isAdmin}}
            <section><h2>Your sessions</h2>{{#sessions}}<form class="line" method="post" \
            action="/console/operators">{{> form}}<input type="hidden" name="session" value="{{session}}"><span>{{#text}}{{> text}}{{/text}}</span> {{#canEnd}}<button name="act" value="end-one" aria-label="End the session {{text}}">End</button>\
            {{/canEnd}}</form>{{/sessions}}
            <form method="post" action="/console/operators">{{> form}}
            <button name="act" value="end">End the other sessions</button></form></section>
            {{#log}}<section><h2>Sign-ins and changes</h2>{{> table}}</section>{{/log}}{{> foot}}
            """
        ),
        ("message", "{{> head}}<p><a href=\"/console\">To the first page</a></p>{{> foot}}"),
    ]
}

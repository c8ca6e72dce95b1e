/**
 * The page on which a person logs in: one field, no script, nothing loaded from elsewhere.
 *
 * Owns its HTML. The submitted token is handled by routes/login.ts.
 */
import { html, raw } from 'hono/html'
import { STYLE } from './page-style.ts'

const FORM_STYLE = `
form { max-width: 26rem; margin-top: 1.5rem; display: grid; gap: .75rem; }
input, button { font: inherit; padding: .5rem .75rem; border-radius: .5rem; border: 1px solid var(--line); background: var(--card); color: var(--ink); }
button { background: var(--mark); border-color: var(--mark); color: var(--paper); font-weight: 600; cursor: pointer; }
[role=alert] { color: var(--bad); margin: 0; }`

export interface LoginPage {
  readonly nonce: string
  /** The path to redirect to afterwards. */
  readonly next: string
  readonly problem: string | null
}

export const renderLogin = ({ nonce, next, problem }: LoginPage): ReturnType<typeof html> => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in · Trihand</title>
<style nonce="${nonce}">${raw(STYLE + FORM_STYLE)}</style>
</head>
<body>
<main>
<h1>Log in</h1>
<form method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<label for="token">Your token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
${problem === null ? '' : html`<p role="alert">${problem}</p>`}
<button type="submit">Log in</button>
<p>An administrator creates one with <code>trihand token create</code>.</p>
</form>
</main>
</body>
</html>
`

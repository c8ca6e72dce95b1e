/** Schemas of the caller and of tokens on the wire. */
import { described, instant, list, orNull, record, text, words, yesNo } from '#http/openapi/schema.ts'
import { KINDS, ROLES } from '#model/access/identity.ts'

const who = { tenant: text, kind: words(KINDS), roles: list(words(ROLES)), groups: list(text) }

const token = {
  id: text,
  ...who,
  name: described('the person, service or agent that it stands for', text),
  status: words(['active', 'expired', 'revoked']),
  created_at: instant,
  created_by: text,
  expires_at: instant,
  revoked_at: orNull(instant),
}

export const tokenComponents = {
  Me: record({
    ...{ id: text, ...who },
    is_named: described('false: somebody at this machine who has not said their name', yesNo),
    is_login: described('the server knows who is asking, and nobody need say it', yesNo),
    can_log_out: described('there is a login of this server to end', yesNo),
  }),
  Token: record(token),
  NewToken: record({ ...token, token: described('the secret, shown this once', text) }),
}

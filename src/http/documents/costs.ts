/** Schemas of costs on the wire. */
import { described, list, number, orNull, record, ref, text, whole, words, yesNo } from '#http/openapi/schema.ts'

const spent = {
  calls: whole,
  input_tokens: whole,
  output_tokens: whole,
  cost_usd: described('of the calls whose price is known; null: of none', orNull(number)),
  unpriced_calls: whole,
  unpriced_tokens: whole,
  failed_calls: described('of the calls: those that gave no answer that counts', whole),
  unverified_usd: described(
    'what others say that the calls without a known price have cost, which nobody has checked; null: nobody says',
    orNull(number),
  ),
}

export const costComponents = {
  Spent: record(spent),
  CostRow: record({
    day: orNull(text),
    agent: orNull(text),
    model: orNull(text),
    simulated: described('a script answered: nothing was paid', yesNo),
    ...spent,
  }),
  Costs: record({
    from: text,
    to: text,
    by: list(words(['day', 'agent', 'model'])),
    items: list(ref('CostRow')),
    total: ref('Spent'),
  }),
  RunCosts: record({
    from: text,
    to: text,
    looked_at: described('runs that paid a model in these days, the newest, at most 500', whole),
    finished: described('that ended well, with every price known', whole),
    p50_usd: described('of a finished run; null: there is none', orNull(number)),
    p95_usd: orNull(number),
    failed: described('that ended otherwise', whole),
    wasted_usd: described('what those have cost', number),
    unpriced: described('that have ended, with a price that nobody knows', whole),
    open: described('that have not ended', whole),
  }),
}

/** Inngest as dispatcher with the real SDK: runs the tests that `npm test` runs with a stand-in, and checks that its types match ours. */
import { Inngest } from 'inngest'
import { serve } from 'inngest/edge'
import { inngestConformance } from '../../test/support/serving/inngest-conformance.ts'

const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }

inngestConformance('the real SDK', (server) => {
  const { url, signingKey, eventKey } = server
  const client = new Inngest({ id: 'compat', isDev: false, baseUrl: url, signingKey, eventKey, logger: silent })
  return { client, serve }
})

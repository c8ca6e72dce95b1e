/**
 * `npm run api`: generates src/http/openapi/api.ts, the API in TypeScript, from the descriptions of the routes.
 *
 * Run it after a route or a document has changed; a test fails while the file is stale.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'

const jiti = createJiti(import.meta.url)
const { apiDocument } = await jiti.import('./lib/api-document.ts')
const { printApi } = await jiti.import('./lib/print-api.ts')

writeFileSync(fileURLToPath(new URL('../src/http/openapi/api.ts', import.meta.url)), printApi(await apiDocument()))

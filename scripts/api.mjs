/**
 * `npm run api`: writes src/http/openapi/api.ts, the interface in TypeScript, from the descriptions of the routes.
 *
 * To be run after a route or a document has changed; a test says when the file is stale.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'

const jiti = createJiti(import.meta.url)
const { apiDocument } = await jiti.import('./lib/api-document.ts')
const { printApi } = await jiti.import('./lib/print-api.ts')

writeFileSync(fileURLToPath(new URL('../src/http/openapi/api.ts', import.meta.url)), printApi(await apiDocument()))

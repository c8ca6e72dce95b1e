/** Child process: loads and lints the large manifest once, cold, and reports how long that took. */
import { loadManifest } from '#manifest/yaml/load.ts'
import { largeManifest } from '../large-manifest.ts'

const text = largeManifest()
const begun = performance.now()
const { manifest } = loadManifest(text, 'manifest.yaml', {
  folder: { paths: [], read: () => '' },
  environment: new Set(),
})
const ms = performance.now() - begun
process.stdout.write(`loaded ${manifest === null ? 'nothing' : ms.toFixed(3)}\n`)

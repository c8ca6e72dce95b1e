/** Checks every import against the table of rooms (scripts/lib/rooms.mjs) as a part of `npm run lint`. Exits with 1 if one is forbidden. */
import { fileURLToPath } from 'node:url'
import { cyclesIn, FOLDER_LIMIT, folderSizes, importFaults, importGraph, sourcesIn } from './lib/rooms.mjs'

const files = sourcesIn(fileURLToPath(new URL('..', import.meta.url)))
const said = [
  ...importFaults(files).map(({ path, source, why }) => `${path}: ${source}: ${why}`),
  ...cyclesIn(importGraph(files)).map((circle) => `a circle of imports: ${[...circle, circle[0]].join(' > ')}`),
  ...folderSizes(files)
    .filter(([, size]) => size > FOLDER_LIMIT)
    .map(([folder, size]) => `${folder} has ${size} sources; ${FOLDER_LIMIT} at most`),
]
for (const line of said) console.error(line)
process.exitCode = said.length === 0 ? 0 : 1

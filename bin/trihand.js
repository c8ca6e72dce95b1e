#!/usr/bin/env node
/** The command: checks Node before anything else is read, because an older one could not even parse the rest. */
const [major, minor] = process.versions.node.split('.').map(Number)

const isOld = major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 12)

if (isOld) {
  console.error(`trihand needs Node 20.19, 22.12 or newer; this is ${process.version}.`)
  process.exit(2)
}

// Node 20 has none; newer ones keep what they compiled for the next start. Where it cannot be kept, nothing is lost.
void import('node:module')
  .then(({ enableCompileCache }) => {
    if (enableCompileCache) enableCompileCache()
    return import('../dist/cli/main.js')
  })
  .then(({ runMain }) => runMain())

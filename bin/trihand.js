#!/usr/bin/env node
/** The command: checks the version of Node before it loads anything else, because an older one could not parse the rest. */
const [major, minor] = process.versions.node.split('.').map(Number)

const isOld = major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 12)

if (isOld) {
  console.error(`trihand needs Node 20.19, 22.12 or newer; this is ${process.version}.`)
  process.exit(2)
}

// Node 22 and later cache compiled code for the next start. Without a writable cache nothing is lost.
void import('node:module')
  .then(({ enableCompileCache }) => {
    if (enableCompileCache) enableCompileCache()
    return import('../dist/cli/main.js')
  })
  .then(({ runMain }) => runMain())

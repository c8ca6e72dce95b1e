/**
 * Ways out of a process for isolated code: the attempts of hostile code, each with the access that it would gain.
 *
 * Owns the list. Each attempt is code that returns evidence, or nothing; test/support/agents/escape-place.ts also looks for effects from
 * outside.
 */

export interface Escape {
  readonly group: string
  readonly name: string
  /** The body of an async function of `require`, `module`, `exports`, `world` and `said`. */
  readonly code: string
}

/** The outside world, as `world` describes it to the code. */
export interface EscapeWorld {
  readonly port: number
  readonly udpPort: number
  readonly socket: string
  /** An existing file outside of the folder, and a new one there. */
  readonly outside: string
  readonly fresh: string
  readonly hostPid: number
}

/** Ways for code to get a module of the runtime. */
const GETTERS: Readonly<Record<string, (name: string) => string>> = {
  require: (name) => `require('node:${name}')`,
  'import()': (name) => `await import('node:${name}')`,
  'import() in new Function': (name) => `await new Function('return import("node:${name}")')()`,
  'process.getBuiltinModule': (name) => `process.getBuiltinModule('${name}')`,
  'a package of its folder': (name) => `require('pkg').get('${name}')`,
  'Module._load of a package': (name) => `require('pkg').Module._load('${name}', null, false)`,
  'createRequire of a package': (name) => `require('pkg').Module.createRequire(require('pkg').file)('${name}')`,
}

const waits = (made: string, events: string): string =>
  `await new Promise((yes, no) => { const one = ${made}; one.on('error', no); for (const name of ${events}) one.on(name, () => yes('${'it '}' + name)) })`

/** What the code would do with the module. */
const DEEDS: Readonly<Record<string, string>> = {
  net: waits(`m.connect(world.port, '127.0.0.1')`, `['connect']`),
  http: waits(`m.get('http://127.0.0.1:' + world.port)`, `['response']`),
  https: waits(`m.get('https://127.0.0.1:' + world.port)`, `['response']`),
  http2: waits(`m.connect('http://127.0.0.1:' + world.port)`, `['connect']`),
  tls: waits(`m.connect(world.port, '127.0.0.1')`, `['secureConnect']`),
  dns: `await new Promise((yes, no) => m.lookup('localhost', (error, address) => (error ? no(error) : yes(address))))`,
  dgram: `await new Promise((yes, no) => { const s = m.createSocket('udp4'); s.on('error', no); s.send('x', world.udpPort, '127.0.0.1', (error) => (error ? no(error) : yes('sent'))) })`,
  child_process: `String(m.execFileSync('/bin/echo', ['ran']))`,
  worker_threads: waits(`new m.Worker('1', { eval: true })`, `['online', 'exit']`),
  cluster: waits(`m.fork()`, `['online', 'exit']`),
  inspector: `m.open(0, '127.0.0.1') ?? m.url()`,
  v8: `m.writeHeapSnapshot(world.fresh)`,
}

const byModule: readonly Escape[] = Object.entries(GETTERS).flatMap(([way, get]) =>
  Object.entries(DEEDS).map(([name, deed]) => ({
    group: name,
    name: `${name} by ${way}`,
    code: `const m = ${get(name)}; return ${deed}`,
  })),
)

const of = (group: string, ways: Readonly<Record<string, string>>): readonly Escape[] =>
  Object.entries(ways).map(([name, code]) => ({ group, name, code }))

const NETWORK = of('other ways to the network', {
  'a unix socket': `return ${waits(`require('pkg').get('net').connect(world.socket)`, `['connect']`)}`,
  'the socket of standard output': `const s = new process.stdout.constructor(); return ${waits(`s.connect(world.port, '127.0.0.1')`, `['connect']`)}`,
  'the handle of standard output': `const H = process.stdout._handle.constructor; const h = new H(0); const r = {}; const code = h.connect(r, world.socket); if (code) throw new Error(String(code)); return 'connected'`,
  'a listener on the handle of standard output': `const H = process.stdout._handle.constructor; const h = new H(1); const code = h.bind(world.fresh); if (code) throw new Error(String(code)); return 'bound'`,
  'fetch to this machine': `return (await fetch('http://127.0.0.1:' + world.port)).status`,
  'fetch to a name of this machine': `return (await fetch('http://localhost:' + world.port)).status`,
  'fetch to an allowed name that leads here': `return (await fetch('http://localtest.me')).status`,
  'fetch of the metadata service': `return (await fetch('http://169.254.169.254/latest/meta-data')).status`,
  'fetch in hexadecimal': `return (await fetch('http://0x7f.1:' + world.port)).status`,
  'fetch over IPv6': `return (await fetch('http://[::ffff:127.0.0.1]:' + world.port)).status`,
  'fetch of a file': `return (await fetch('file://' + world.outside)).status`,
  'fetch with a dispatcher': `return (await fetch('http://127.0.0.1:' + world.port, { dispatcher: globalThis[Symbol.for('undici.globalDispatcher.1')] })).status`,
  'the global dispatcher': `const d = globalThis[Symbol.for('undici.globalDispatcher.1')]; return (await d.request({ origin: 'http://127.0.0.1:' + world.port, path: '/', method: 'GET' })).statusCode`,
  WebSocket: `return ${waits(`new WebSocket('ws://127.0.0.1:' + world.port)`, `['open']`).replaceAll('.on(', '.addEventListener(')}`,
  EventSource: `return ${waits(`new EventSource('http://127.0.0.1:' + world.port)`, `['open']`).replaceAll('.on(', '.addEventListener(')}`,
  'dns.promises': `return await require('pkg').get('dns/promises').lookup('localhost')`,
  'dns.Resolver': `const { Resolver } = require('pkg').get('dns').promises; return await new Resolver().resolve4('localhost')`,
  'a server': `return ${waits(`require('pkg').get('net').createServer().listen(0)`, `['listening']`)}`,
  'a UDP server': `const s = require('pkg').get('dgram').createSocket('udp4'); return ${waits('s.bind(0)', `['listening']`)}`,
  'Response.error and a cached fetch': `return (await (globalThis.fetch.native ?? fetch)('http://127.0.0.1:' + world.port)).status`,
})

const FILES = of('files', {
  readFileSync: `return require('fs').readFileSync(world.outside, 'utf8')`,
  'fs.promises': `return await require('fs/promises').readFile(world.outside, 'utf8')`,
  'a path as bytes': `return require('fs').readFileSync(Buffer.from(world.outside), 'utf8')`,
  'a path as a URL': `return require('fs').readFileSync(new URL('file://' + world.outside), 'utf8')`,
  'a path with ..': `return require('fs').readFileSync(__dirname + '/../../..' + '/../../../../..' + world.outside, 'utf8')`,
  'a relative path': `return require('fs').readFileSync('../../outside.txt', 'utf8')`,
  'a stream': `return await new Promise((yes, no) => require('fs').createReadStream(world.outside).on('data', (d) => yes(String(d))).on('error', no))`,
  'an open file': `return require('fs').openSync(world.outside, 'r')`,
  'a blob': `return await (await require('fs').openAsBlob(world.outside)).text()`,
  'a list of a folder': `return require('fs').readdirSync('/').length`,
  opendir: `return require('fs').opendirSync('/').readSync().name`,
  stat: `return require('fs').statSync(world.outside).size`,
  'exists, where refusal is an answer': `return require('fs').existsSync(world.outside)`,
  realpath: `return require('fs').realpathSync(world.outside)`,
  readlink: `return require('fs').readlinkSync('/proc/self/exe')`,
  watch: `const w = require('fs').watch('/tmp'); w.close(); return 'watched'`,
  'a new link': `require('fs').symlinkSync('/etc', __dirname + '/link'); return 'linked'`,
  'a hard link': `require('fs').linkSync(world.outside, __dirname + '/hard'); return 'linked'`,
  'a copy': `require('fs').cpSync(world.outside, __dirname + '/copy'); return 'copied'`,
  'copyFile out of the folder': `require('fs').copyFileSync(__filename, world.fresh); return 'copied'`,
  'writing in its own folder': `require('fs').writeFileSync(__dirname + '/mine', 'x'); return 'written'`,
  'writing outside': `require('fs').writeFileSync(world.fresh, 'x'); return 'written'`,
  'a temporary folder': `return require('fs').mkdtempSync('/tmp/escape-')`,
  unlink: `require('fs').unlinkSync(world.outside); return 'removed'`,
  chmod: `require('fs').chmodSync(world.outside, 0o777); return 'changed'`,
  '/proc/self/environ': `return require('fs').readFileSync('/proc/self/environ', 'utf8').length + 1`,
  'the environment of the host': `return require('fs').readFileSync('/proc/' + world.hostPid + '/environ', 'utf8')`,
  'the memory of the host': `return require('fs').openSync('/proc/' + world.hostPid + '/mem', 'r')`,
  'the files of this process': `return require('fs').readdirSync('/proc/self/fd').length`,
  '/dev/fd': `return require('fs').openSync('/dev/fd/1', 'w')`,
  lstat: `return require('fs').lstatSync(world.outside).size`,
  'lstat of the home of root': `return require('fs').lstatSync('/root').mode`,
  'lstat with a promise': `return (await require('fs/promises').lstat(world.outside)).size`,
  'lstat with a callback': `return await new Promise((yes, no) => require('fs').lstat(world.outside, (e, s) => (e ? no(e) : yes(s.size))))`,
  'lstat of bytes': `return require('fs').lstatSync(Buffer.from(world.outside)).size`,
  'realpath of the system': `return require('fs').realpathSync.native('/proc/self/exe')`,
  'realpath with a promise': `return await require('fs/promises').realpath(world.outside)`,
  access: `require('fs').accessSync(world.outside); return 'it is there'`,
  utimes: `require('fs').utimesSync(world.outside, 1, 1); return 'changed'`,
  lutimes: `require('fs').lutimesSync(world.outside, 1, 1); return 'changed'`,
  lchown: `require('fs').lchownSync(world.outside, 0, 0); return 'changed'`,
  truncate: `require('fs').truncateSync(world.outside); return 'emptied'`,
  rename: `require('fs').renameSync(world.outside, world.fresh); return 'moved'`,
  rm: `require('fs').rmSync(world.outside); return 'removed'`,
  'a folder of its own outside': `require('fs').mkdirSync(world.fresh); return 'made'`,
  'an append': `require('fs').appendFileSync(world.outside, 'x'); return 'written'`,
  'a write stream': `return await new Promise((yes, no) => require('fs').createWriteStream(world.fresh).on('open', () => yes('opened')).on('error', no))`,
  'a glob': `return require('fs').globSync?.('/etc/*').length`,
  statfs: `return require('fs').statfsSync('/').blocks`,
  'an outside file by require': `return require(world.outside)`,
  'an outside file by import': `return await import(world.outside)`,
  'an outside file by a package': `return require('pkg').require(world.outside.replace('.txt', '.json'))`,
  'an outside file as environment': `return process.loadEnvFile(world.outside) ?? process.env.MARK`,
  'sqlite of an outside file': `const { DatabaseSync } = require('pkg').get('sqlite'); new DatabaseSync(world.fresh).exec('create table t (a)'); return 'made'`,
})

const PROCESS = of('the process', {
  'process.env': `return process.env.ESCAPE_SECRET ?? (Object.keys(process.env).length || null)`,
  'process.kill of the host': `return process.kill(world.hostPid, 0)`,
  'process._kill': `return process._kill(world.hostPid, 0) === 0 && 'reached'`,
  'process.kill of init': `return process.kill(1, 0)`,
  'kill over a prototype': `return Object.getPrototypeOf(process).kill?.(world.hostPid, 0)`,
  'process._debugProcess': `process._debugProcess(world.hostPid); return 'woken'`,
  'process.binding': `return process.binding('tcp_wrap')`,
  'process.binding of fs': `return process.binding('fs')`,
  'process.binding of spawn': `return process.binding('spawn_sync')`,
  'process._linkedBinding': `return process._linkedBinding('tcp_wrap')`,
  'process.dlopen': `return process.dlopen({ exports: {} }, world.outside)`,
  'an addon': `return require('pkg').require('./addon.node')`,
  'process.execve': `return process.execve('/bin/echo', ['echo'])`,
  'process.mainModule': `return process.mainModule.require('net')`,
  'process.report': `return process.report.writeReport(world.fresh)`,
  'the report': `return process.report.getReport().environmentVariables`,
  'process.setuid': `process.setuid(0); return 'set'`,
  'process.setgroups': `process.setgroups([0]); return 'set'`,
  'process.chdir': `process.chdir('/'); return process.cwd()`,
  'active handles': `return process._getActiveHandles().length`,
  'process.stdin': `return process.stdin.fd`,
  'process.channel': `return process.channel`,
  'process.permission.drop': `return process.permission.drop('fs.read') ?? null`,
  trace_events: `const t = require('pkg').get('trace_events').createTracing({ categories: ['node'] }); t.enable(); return 'traced'`,
  'v8 flags': `require('pkg').get('v8').setFlagsFromString('--allow-natives-syntax'); return 'set'`,
  'a coverage file': `require('pkg').get('v8').takeCoverage(); process.env.NODE_V8_COVERAGE = '/tmp'; return null`,
  wasi: `const { WASI } = require('pkg').get('wasi'); return new WASI({ version: 'preview1', preopens: { '/': '/' } }) && 'made'`,
  ffi: `return require('pkg').get('ffi')`,
  'the test runner': `return require('pkg').get('test').run`,
  'a repl': `return require('pkg').get('repl').start`,
})

const LOADERS = of('loaders', {
  'module.register': `require('pkg').Module.register('data:text/javascript,'); return 'registered'`,
  'module.registerHooks': `require('pkg').Module.registerHooks({ resolve: (s, c, next) => next('node:net', c) }); return require('pkg').require('x').connect`,
  'module.enableCompileCache': `return require('pkg').Module.enableCompileCache('/tmp/escape-cache').directory`,
  'internal modules': `return require('internal/test/binding').internalBinding`,
  'internal modules by a package': `return require('pkg').get('internal/test/binding').internalBinding`,
  'internal modules by import': `return (await new Function('return import("internal/test/binding")')()).internalBinding`,
  'the loader of builtins': `return require('pkg').get('internal/bootstrap/realm')`,
  'children of the program': `return require('pkg').get('internal/child_process').ChildProcess`,
  'the cache of modules': `return Object.values(require('pkg').require.cache).map((m) => m.require?.('net')).find(Boolean)`,
  'Module.prototype.require': `return require('pkg').Module.prototype.require.call({ id: 'x', paths: [], filename: __filename }, 'net').connect`,
  'an extension of its own': `const { Module } = require('pkg'); Module._extensions['.txt'] = Module._extensions['.js']; return require('pkg').require(world.outside)`,
  'vm with the default loader': `const vm = require('pkg').get('vm'); return await vm.runInThisContext('import("node:net")', { importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER })`,
  'vm in a new context': `return require('pkg').get('vm').runInNewContext('this.constructor.constructor("return process")().binding("fs")')`,
  'a data: module': `return (await new Function('return import("data:text/javascript,export default process.version")')()).default`,
  'a constructor of async functions': `return await (async () => {}).constructor('return (await import("node:net")).connect')()`,
  'a generator': `return (function* () {}).constructor('yield require("net")')().next().value`,
  'import.meta': `return await new Function('return import("node:module").then((m) => m.createRequire("/x")("net").connect)')()`,
  'globals of eval': `return globalThis.net ?? globalThis.child_process ?? globalThis.require`,
  'an error that walks the stack': `Error.prepareStackTrace = (_, sites) => sites.map((s) => s.getThis()).find((t) => t?.internalBinding ?? t?.require ?? t?._load); const found = new Error('x').stack; delete Error.prepareStackTrace; return found?.require?.('net')`,
  'arguments.callee.caller': `return (function f() { return f.caller?.arguments })()`,
})

const TAMPERING = of('tampering', {
  'Reflect.apply that keeps what it is given': `const { apply } = Reflect; let kept; Reflect.apply = (f, ...r) => { if (f.name === '_load' || f.length > 1) kept ??= f; return apply(f, ...r) }; try { require('pkg').get('path') } finally { Reflect.apply = apply } return kept?.('net', null, false).connect`,
  'Set.prototype.has that says yes': `const { has } = Set.prototype; Set.prototype.has = () => true; try { return require('pkg').get('net').connect } finally { Set.prototype.has = has }`,
  'String.prototype.startsWith that says no': `const { startsWith } = String.prototype; String.prototype.startsWith = () => false; try { return require('pkg').get('internal/test/binding').internalBinding } finally { String.prototype.startsWith = startsWith }`,
  'a request that changes': `let n = 0; return require({ toString: () => (n++ ? 'net' : 'path'), startsWith: () => false }).connect`,
  'Array.prototype.includes that says yes': `const { includes } = Array.prototype; Array.prototype.includes = () => true; try { return require('pkg').get('net').connect } finally { Array.prototype.includes = includes }`,
  'Object.prototype with an open list': `Object.prototype.net = true; try { return require('pkg').get('net').connect } finally { delete Object.prototype.net }`,
  'Promise.prototype.then': `const { then } = Promise.prototype; const seen = []; Promise.prototype.then = function (...a) { seen.push(this); return then.apply(this, a) }; try { await Promise.resolve() } finally { Promise.prototype.then = then } return seen.find((p) => p?.internalBinding)`,
  'the methods of a socket put back': `const H = process.stdout._handle.constructor; delete H.prototype.connect; return typeof H.prototype.connect === 'function' && new H(0).connect({}, world.socket) === 0`,
  'a handle defined anew': `const H = process.stdout._handle.constructor; Object.defineProperty(H.prototype, 'open', { value: Object.getPrototypeOf(H.prototype).open }); return new H(0).open?.(0) === 0`,
  'process.getBuiltinModule put back': `delete process.getBuiltinModule; return Object.getPrototypeOf(process).getBuiltinModule?.('net')`,
  'process.kill put back': `Object.defineProperty(process, 'kill', { value: (pid) => pid }); return process.kill(world.hostPid) === world.hostPid`,
  'fetch put back': `delete globalThis.fetch; return globalThis.fetch ? (await globalThis.fetch('http://127.0.0.1:' + world.port)).status : null`,
})

/** Raw messages to the host over the pipe. Effects in the host are seen from outside. */
const forged = (call: string): string =>
  `require('fs').writeSync(3, JSON.stringify({ t: 'turn', turn: 1e9, calls: [${call}] }) + '\\n'); return null`

const FORGERY = of('forged messages', {
  'an event that is not allowed': forged(
    `{ op: 'emit', id: 1e6, name: 'forged', events: { type: 'forged.event', data: {} } }`,
  ),
  'an intent that is not allowed': forged(`{ op: 'intent', type: 'forged.event', data: {} }`),
  'a lifecycle event': forged(
    `{ op: 'invoke', id: 1e6, name: 'x', handler: 'escape', input: -1, options: { tells: { type: 'forged.event', data: {} } } }`,
  ),
  'a document that is not allowed': forged(
    `{ op: 'bodyDone', id: 1, value: 1, intents: [['write', 'forged', '1', { a: 1 }]] }`,
  ),
  'a secret that is not allowed': forged(`{ op: 'secret', id: 1e6, name: 'ESCAPE_SECRET' }`),
  'a method of the host': forged(`{ op: 'constructor', id: 1e6, name: 'x' }`),
  'a prototype': forged(`{ op: '__proto__', id: 1e6, name: 'x', options: { ['__proto__']: { polluted: 1 } } }`),
  'a request to this machine': forged(`{ op: 'http', id: 1e6, request: { url: 'http://127.0.0.1:' + world.port } }`),
  'a request with a body of no sense': forged(
    `{ op: 'http', id: 1e6, request: { url: 5, headers: 7, body: {}, method: [] } }`,
  ),
  'calls that are none': forged(`null, 5, [], 'x', {}, { op: 5 }, { op: 'run' }, { op: 'done', error: 5 }`),
  'a call of another module': forged(`{ op: 'invoke', id: 1e6, name: 'x', handler: 'other', input: 1 }`),
})

export const ESCAPES: readonly Escape[] = [
  ...byModule,
  ...NETWORK,
  ...FILES,
  ...PROCESS,
  ...LOADERS,
  ...TAMPERING,
  ...FORGERY,
]

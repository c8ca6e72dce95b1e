/**
 * The program of a process for isolated code, as text: the loader of its module's files, the context that a function gets, and the
 * channel to the host. It must work on its own, as guard-code.ts does.
 *
 * Owns the child's side of the messages of ports/code-process.ts. The host does not trust it: it checks whatever the child sends as it
 * checks code in its own process.
 */
import { GUARD_CODE, PUBLIC_MODULES } from './guard-code.ts'

const LOADER = `
const makeLoader = ({ files, folder, guard, nodeRequire, facade, Script, path, fileURLToPath }) => {
  const ENDINGS = ['', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js', '/index.mjs']
  const loaded = new Map()
  const find = (from, request) => {
    const plain = request.startsWith('file:') ? fileURLToPath(request) : request
    const whole = path.resolve(folder, path.dirname(from), plain)
    const relative = path.relative(folder, whole).split(path.sep).join('/')
    // A file that TypeScript will have made: ./a.js stands for ./a.ts.
    for (const name of [relative, relative.replace(/\\.([cm]?)js$/, '.$1ts')])
      for (const ending of ENDINGS) if (files.has(name + ending)) return name + ending
    throw Object.assign(new Error('there is no file ' + request + ' in the folder of the module'), { code: 'MODULE_NOT_FOUND' })
  }
  const isPath = (request) => request.startsWith('.') || request.startsWith('file:') || path.isAbsolute(request)
  const outer = (request) => {
    if (request === 'trihand') return facade
    if (guard.isRefused(request)) throw guard.refused(request)
    return nodeRequire(request)
  }
  const requireFrom = (from) => (request) => {
    if (!isPath(request)) return outer(request)
    const module = begin(find(from, request))
    if (module.failed !== undefined) throw module.failed
    return module.exports
  }
  // Who waits for whom while files load: two that import each other get what there is so far, as everywhere.
  const waits = new Map()
  const reaches = (from, to) => from === to || [...(waits.get(from) ?? [])].some((next) => reaches(next, to))
  const importFrom = (from) => async (request) => {
    if (!isPath(request)) return outer(request)
    const name = find(from, request)
    const module = begin(name)
    if (module.isDone || reaches(name, from)) return module.exports
    const asked = waits.get(from) ?? new Set()
    waits.set(from, asked.add(name))
    await module.ready
    asked.delete(name)
    return module.exports
  }
  const begin = (name) => {
    const known = loaded.get(name)
    if (known !== undefined) return known
    const filename = path.join(folder, name)
    const module = { exports: {}, filename, isDone: false, ready: null, failed: undefined }
    loaded.set(name, module)
    const text = files.get(name)
    if (name.endsWith('.json')) {
      module.exports = JSON.parse(text)
      module.ready = Promise.resolve()
      module.isDone = true
      return module
    }
    const wrapped = '(async function (exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve) {' + text + '\\n})'
    const run = new Script(wrapped, { filename }).runInThisContext()
    const local = requireFrom(name)
    module.ready = run(module.exports, local, module, filename, path.dirname(filename), importFrom(name), (request) => 'file://' + path.resolve(path.dirname(filename), request))
    module.ready.then(() => { module.isDone = true }, (error) => { module.failed = error })
    return module
  }
  return async (name) => {
    const module = begin(name)
    await module.ready
    return module.exports
  }
}
`

const CONTEXT = `
const STEP_FAILURE = Symbol.for('trihand.step_failure')
const FINAL = Symbol.for('trihand.final_error')
class FinalError extends Error {
  constructor(message, options) { super(message, options); this.name = 'FinalError'; this[FINAL] = true }
}
class StepFailure extends Error {
  constructor(step, failure) {
    super(failure.message); this.name = 'StepFailure'; this.code = failure.code; this.step = step; this.done = failure.done ?? []; this[STEP_FAILURE] = true
  }
}
class TrihandError extends Error {
  constructor(code, detail) { super(code + ': ' + detail); this.name = 'TrihandError'; this.code = code; this.detail = detail }
}
const facade = {
  __esModule: true, FinalError, StepFailure, TrihandError,
  fn: (name, options, code) => ({ name, options, code, isFunction: true }),
}
const bad = (path, found) => new TrihandError('JSON_INVALID', (path || 'the value') + ' is ' + found + '; expected plain JSON')
const check = (value, path, depth) => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number') { if (!Number.isFinite(value)) throw bad(path, String(value)); return }
  if (typeof value !== 'object') throw bad(path, typeof value)
  if (depth > 64) throw bad(path, 'nested deeper than 64 levels')
  if (Array.isArray(value)) { for (let i = 0; i < value.length; i++) check(value[i], path + '/' + i, depth + 1); return }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw bad(path, 'a ' + (value.constructor?.name ?? 'special object'))
  for (const key of Object.keys(value)) check(value[key], path + '/' + key, depth + 1)
}
const plain = (value) => { if (value === undefined) return null; check(value, '', 0); return value }
// Options may be left out as undefined.
const given = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))
const packError = (error) => {
  const whole = typeof error === 'object' && error !== null
  return {
    message: whole && 'message' in error ? String(error.message) : String(error),
    ...(whole && STEP_FAILURE in error ? { step: String(error.step), code: String(error.code), done: error.done } : {}),
    ...(error instanceof TrihandError ? { code: error.code, message: error.detail } : {}),
    ...(whole && error.code === 'MODULE_DENIED' ? { code: 'MODULE_DENIED', message: String(error.message).replace('MODULE_DENIED: ', '') } : {}),
    ...(whole && FINAL in error ? { final: true } : {}),
  }
}
const openError = (error) => {
  if (error.step !== undefined) return new StepFailure(error.step, error)
  if (error.code !== undefined) return new TrihandError(error.code, error.message)
  return new Error(error.message)
}
`

const WORK = `
const makeWork = ({ post, load }) => {
  let turn = 0
  let queue = []
  let isPosting = false
  let entry = null
  let count = 0
  // What is asked within one turn of the loop goes in one message: the host must not take the first call for all there is.
  const flush = () => {
    isPosting = false
    const calls = queue
    queue = []
    post({ t: 'turn', turn, calls })
  }
  const push = (call) => {
    if (call !== null) queue.push(call)
    if (!isPosting) { isPosting = true; setImmediate(flush) }
  }
  const ask = (mine, op, call, keep) => {
    if (entry !== mine) return new Promise(() => {})
    return new Promise((resolve, reject) => {
      const id = ++count
      mine.asked.set(id, { resolve, reject })
      if (keep !== undefined) mine.bodies.set(id, keep)
      push({ op, id, ...call })
    })
  }
  const control = () => new AbortController()
  const stepFor = (mine) => ({
    run: (name, body, options = {}) => {
      const { fallback, ...rest } = options
      const round = mine.rounds.get(name) ?? 0
      if (rest.key === undefined) mine.rounds.set(name, round + 1)
      const step = JSON.stringify(rest.key === undefined ? [name, round] : [name, String(rest.key)])
      return ask(mine, 'run', { name, step, options: given(rest), fallback: fallback !== undefined }, { body, fallback })
    },
    execute: (name, options) => ask(mine, 'execute', { name, options: given(options) }),
    sleep: (name, duration, options) => ask(mine, 'sleep', { name, duration, options: given(options) }),
    sleepUntil: (name, instant, options) => ask(mine, 'sleepUntil', { name, instant: Number(instant), options: given(options) }),
    waitForEvent: (name, options) => ask(mine, 'waitForEvent', { name, options: given(options) }),
    invoke: (name, handler, input, options) => ask(mine, 'invoke', { name, handler, input: plain(input), options: given(options) }),
    human: (name, task, options) => ask(mine, 'human', { name, task: given(task), options: given(options) }),
    emit: (name, events, options) => ask(mine, 'emit', { name, events: given(events), options: given(options) }),
    fetch: (name, url, options) => ask(mine, 'fetch', { name, url: String(url), options: given(options) }),
    secret: (name) => ask(mine, 'secret', { name: String(name) }),
  })
  const fetchFor = () => async (input, init) => {
    const mine = entry
    if (mine === null) throw new TrihandError('MODULE_DENIED', 'fetch is called within a run')
    const asked = new Request(input, init)
    asked.signal.throwIfAborted()
    const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer()).toString('base64')
    const call = { url: asked.url, method: asked.method, headers: Object.fromEntries(asked.headers), redirect: asked.redirect, body }
    const answer = ask(mine, 'http', { request: call })
    const stopped = new Promise((_, reject) => asked.signal.addEventListener('abort', () => reject(asked.signal.reason)))
    const got = await Promise.race([answer, stopped])
    const empty = [101, 204, 205, 304].includes(got.status)
    const response = new Response(empty ? null : Buffer.from(got.body, 'base64'), { status: got.status, statusText: got.statusText, headers: got.headers })
    Object.defineProperties(response, { url: { value: got.url }, redirected: { value: got.redirected } })
    return response
  }
  const perform = async (mine, { id, call, fallback, attempt, effectKey }) => {
    const controller = control()
    mine.controllers.set(id, controller)
    const intents = []
    const context = {
      attempt, effectKey,
      signal: controller.signal,
      stillMine: () => ask(mine, 'stillMine', { body: id }),
      emit: (type, data, options) => { intents.push(['emit', type, plain(data), given(options)]) },
      write: (table, key, value) => { intents.push(['write', table, key, plain(value)]) },
      remember: (key, value) => { intents.push(['remember', key, plain(value)]) },
      tell: (delta) => push({ op: 'tell', body: id, delta: given(delta) }),
    }
    let said
    try {
      const kept = mine.bodies.get(call)
      const value = await (fallback ? kept.fallback : kept.body)(context)
      said = { op: 'bodyDone', id, value: plain(value), intents }
    } catch (error) {
      said = { op: 'bodyDone', id, error: packError(error) }
    }
    mine.controllers.delete(id)
    push(said)
    if (entry !== mine && mine.controllers.size === 0) push({ op: 'idle' })
  }
  const codeOf = async (file, name) => {
    const exports = await load(file)
    const fault = exports.__JITI_ERROR__
    if (fault !== undefined) throw new TrihandError('LOAD_FAILED', file + ':' + fault.line + ':' + fault.column + ': ' + fault.message)
    const made = exports[name]
    if (typeof made === 'function') return made
    if (made !== null && typeof made === 'object' && typeof made.code === 'function') {
      if (Object.keys(made.options ?? {}).length > 0)
        throw new TrihandError('LOAD_FAILED', file + ': options of an isolated function stand in the manifest; those of fn() in its file are not read')
      return made.code
    }
    throw new TrihandError('LOAD_FAILED', file + ' exports no ' + (name === 'default' ? 'default function' : name))
  }
  const enter = async ({ file, name, context }) => {
    const mine = { asked: new Map(), bodies: new Map(), controllers: new Map(), rounds: new Map(), main: control() }
    entry = mine
    let said
    try {
      const code = await codeOf(file, name)
      const value = await code({
        ...context,
        step: stepFor(mine),
        signal: mine.main.signal,
        emit: (type, data, options) => push({ op: 'intent', type, data: plain(data), options: given(options) }),
        recall: (key) => ask(mine, 'recall', { key }),
      })
      const partial = value !== null && typeof value === 'object' && Symbol.for('trihand.partial') in value
      said = { op: 'done', value: plain(partial ? value[Symbol.for('trihand.partial')] : value), partial }
    } catch (error) {
      said = { op: 'done', error: packError(error) }
    }
    if (entry === mine) push(said)
  }
  const leave = (message) => {
    const mine = entry
    entry = null
    if (mine === null) return push({ op: 'idle' })
    mine.main.abort(new Error(message))
    for (const controller of mine.controllers.values()) controller.abort(new Error(message))
    if (mine.controllers.size === 0) push({ op: 'idle' })
  }
  const take = (message) => {
    if (message.t === 'ping') return post({ t: 'pong', n: message.n })
    turn = message.turn
    if (message.t === 'enter') void enter(message)
    else if (message.t === 'leave') leave(message.message)
    else if (entry !== null && message.t === 'body') void perform(entry, message)
    else if (entry !== null && message.t === 'abort') entry.controllers.get(message.id)?.abort(new Error(message.message))
    else if (entry !== null && message.t === 'answer') {
      const waiting = entry.asked.get(message.id)
      entry.asked.delete(message.id)
      if (message.error === undefined) waiting?.resolve(message.value)
      else waiting?.reject(openError(message.error))
    }
    push(null)
  }
  return { take, fetch: fetchFor() }
}
`

const MAIN = `
;((require) => {
  const net = require('net')
  const path = require('path')
  const { Script } = require('vm')
  const { StringDecoder } = require('string_decoder')
  const { createRequire } = require('module')
  const { fileURLToPath } = require('url')
  const publicModules = ${JSON.stringify(PUBLIC_MODULES)}
  const channel = new net.Socket({ fd: 3, readable: true, writable: true })
  void process.stdout
  void process.stderr
  const { stringify, parse } = JSON
  const post = (message) => channel.write(stringify(message) + '\\n')
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let work = null
  const begin = ({ module, folder, files }) => {
    const guard = makeGuard(module, publicModules, folder)
    const nodeRequire = createRequire(path.join(folder, 'module.js'))
    guard.lock()
    const load = makeLoader({ files: new Map(files), folder, guard, nodeRequire, facade, Script, path, fileURLToPath })
    work = makeWork({ post, load })
    Object.defineProperty(globalThis, 'fetch', { value: work.fetch, writable: true, configurable: true, enumerable: true })
    post({ t: 'ready' })
  }
  channel.on('data', (bytes) => {
    const lines = (rest + decoder.write(bytes)).split('\\n')
    rest = lines.pop()
    for (const line of lines) {
      const message = parse(line)
      if (message.t === 'init') begin(message)
      else work.take(message)
    }
  })
  // The host has gone.
  channel.on('error', () => process.exit(0))
  channel.on('end', () => process.exit(0))
})(require)
`

export const PROGRAM = `'use strict'\n${GUARD_CODE}${LOADER}${CONTEXT}${WORK}${MAIN}`

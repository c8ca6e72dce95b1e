/**
 * Code that a process runs before any isolated code, as text: it removes what the runtime's own permissions leave open.
 *
 * Owns the list of what is removed. Below the public modules the process keeps network, signals and the like in internal bindings; those
 * are emptied, so that no way to a module leads to a socket. It must work on its own in a source tree, in a bundled file and under a test
 * runner.
 *
 * isolation-1  Isolated code cannot reach the network, other processes or native code, by whatever name it requests them.
 */

/** Public modules that isolated code may load: values, streams, time, and files as far as the permissions go. */
export const PUBLIC_MODULES = [
  'assert assert/strict async_hooks buffer console constants crypto diagnostics_channel events fs fs/promises os path',
  'path/posix path/win32 perf_hooks punycode querystring stream stream/consumers stream/promises stream/web',
  'string_decoder timers timers/promises url util util/types zlib',
]
  .join(' ')
  .split(' ')

export const GUARD_CODE = `
const makeGuard = (moduleName, publicModules, folder) => {
  for (const scope of ['fs.write', 'child', 'worker'])
    if (process.permission?.has(scope) !== false) throw new Error('the permissions of this process do not refuse ' + scope)
  const opened = require('internal/test/binding')
  const { internalBinding } = opened
  const Module = require('module')
  // Held before the code can replace them: what it puts in their place is asked nothing.
  const { apply } = Reflect
  const { startsWith, slice } = String.prototype
  const { isBuiltin } = Module
  const allowed = Object.create(null)
  for (const name of publicModules) allowed[name] = true
  const isRefused = (request) => {
    if (typeof request !== 'string' || apply(startsWith, request, ['internal/'])) return true
    const name = apply(startsWith, request, ['node:']) ? apply(slice, request, [5]) : request
    return allowed[name] !== true && isBuiltin(request)
  }
  const refused = (what) => {
    const error = new Error('MODULE_DENIED: module ' + moduleName + ' may not use ' + String(what) + ' in a process of its own')
    error.code = 'MODULE_DENIED'
    return error
  }
  const refuse = (what) => function () { throw refused(what) }
  const fix = (object, name, value) => {
    try { Object.defineProperty(object, name, { value, writable: false, configurable: false, enumerable: false }) } catch { object[name] = value }
  }
  const binding = (name) => { try { return internalBinding(name) } catch { return null } }
  const empty = (name, what, members) => {
    const found = binding(name)
    if (found === null) return
    for (const member of members ?? Object.keys(found)) {
      const own = found[member]
      if (typeof own !== 'function') continue
      for (const method of own.prototype === undefined ? [] : Object.getOwnPropertyNames(own.prototype))
        if (method !== 'constructor') {
          const descriptor = Object.getOwnPropertyDescriptor(own.prototype, method)
          if (typeof descriptor.value === 'function') fix(own.prototype, method, refuse(what))
        }
      if (members !== undefined || own.prototype === undefined) fix(found, member, refuse(what))
    }
  }
  // What answers with a number of an error is given one: its callers tell it, instead of ending the process.
  const DENIED = internalBinding('uv').UV_EACCES
  const fail = () => DENIED
  const takeMethods = (name, type, methods) => {
    const prototype = binding(name)?.[type]?.prototype
    if (prototype === undefined) throw new Error('there is no ' + name + '.' + type)
    for (const method of methods) fix(prototype, method, fail)
  }

  const lock = () => {
    // Streams that exist (standard output, the way to the host) go on; none is opened and none is bound.
    takeMethods('tcp_wrap', 'TCP', ['open', 'bind', 'bind6', 'listen', 'connect', 'connect6', 'reset'])
    takeMethods('pipe_wrap', 'Pipe', ['open', 'bind', 'listen', 'connect', 'fchmod'])
    takeMethods('udp_wrap', 'UDP', ['open', 'bind', 'bind6', 'connect', 'connect6', 'send', 'send6', 'addMembership', 'recvStart'])
    takeMethods('tty_wrap', 'TTY', ['setRawMode'])
    for (const name of ['spawn', 'kill']) fix(binding('process_wrap').Process.prototype, name, refuse('child_process'))
    takeMethods('worker', 'Worker', ['startThread', 'takeHeapSnapshot'])
    const cares = binding('cares_wrap')
    for (const name of ['getaddrinfo', 'getnameinfo']) fix(cares, name, fail)
    for (const name of Object.getOwnPropertyNames(cares.ChannelWrap.prototype))
      if (name.startsWith('query') || name.startsWith('getHost') || name === 'setServers') fix(cares.ChannelWrap.prototype, name, fail)
    fix(binding('spawn_sync'), 'spawn', () => ({ error: DENIED, status: null, signal: null, output: null, pid: 0 }))
    empty('worker', 'worker_threads', ['Worker'])
    empty('inspector', 'inspector', ['open', 'url', 'waitForDebugger', 'callAndPauseOnStart', 'Connection', 'MainThreadConnection', 'emitProtocolEvent'])
    empty('trace_events', 'trace_events', ['CategorySet'])
    empty('sqlite', 'sqlite', ['DatabaseSync', 'StatementSync', 'Session', 'backup'])
    empty('webstorage', 'webstorage', ['Storage'])
    empty('wasi', 'wasi', ['WASI'])
    empty('ffi', 'ffi')
    empty('quic', 'quic')
    empty('report', 'process.report')
    empty('profiler', 'v8')
    empty('heap_utils', 'v8', ['triggerHeapSnapshot', 'createHeapSnapshotStream', 'buildEmbedderGraph'])
    empty('modules', 'module', ['enableCompileCache', 'flushCompileCache'])
    empty('process_methods', 'process', ['_debugProcess', '_debugEnd', '_kill', 'dlopen', 'dlopenBinary', 'execve', 'loadEnvFile', 'chdir', 'umask',
      'causeSegfault', '_getActiveRequests', '_getActiveHandles', 'getActiveResourcesInfo', 'patchProcessObject', 'resetStdioForTesting'])
    empty('credentials', 'process', ['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups'])
    empty('permission', 'process.permission', ['drop'])
    empty('v8', 'v8', ['setFlagsFromString', 'startCpuProfile', 'stopCpuProfile', 'setHeapSnapshotNearHeapLimit'])
    // Permissions do not look at this one, by which realpath tells what lies anywhere. The way down to the folder is needed by the loader.
    const files = binding('fs')
    const { lstat } = files
    const { has } = process.permission
    const { resolve, sep } = require('path')
    const { permission } = process
    fix(files, 'lstat', function (path, ...rest) {
      const whole = typeof path === 'string' ? resolve(path) : ''
      const isAbove = apply(startsWith, folder, [whole === sep ? sep : whole + sep])
      if (whole === '' || !(isAbove || apply(has, permission, ['fs.read', whole]))) throw refused('fs.lstat')
      return apply(lstat, files, [path, ...rest])
    })
    // No import() leads past the one loader of this process.
    binding('module_wrap').setImportModuleDynamicallyCallback(() => Promise.reject(refused('import() of a text made at work')))

    const load = Module._load
    fix(Module, '_load', function (request, ...rest) {
      if (isRefused(request)) throw refused(request)
      return apply(load, this, [request, ...rest])
    })
    for (const name of ['register', 'registerHooks', 'enableCompileCache', 'flushCompileCache', '_preloadModules', 'runMain', '_initPaths'])
      if (Module[name] !== undefined) fix(Module, name, refuse('module'))
    fix(Module._extensions, '.node', refuse('addons'))
    const builtin = process.getBuiltinModule
    if (builtin !== undefined) fix(process, 'getBuiltinModule', (request) => {
      if (isRefused(request)) throw refused(request)
      return apply(builtin, process, [request])
    })
    for (const name of ['binding', '_linkedBinding', 'dlopen', 'kill', '_kill', '_debugProcess', '_debugEnd', 'execve', 'loadEnvFile',
      'setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups', 'openStdin', '_getActiveHandles', '_getActiveRequests',
      'getActiveResourcesInfo', '_startProfilerIdleNotifier', '_stopProfilerIdleNotifier', '_rawDebug', 'setSourceMapsEnabled'])
      if (process[name] !== undefined) fix(process, name, refuse('process.' + name))
    for (const name of ['report', 'mainModule', 'stdin', 'channel']) fix(process, name, undefined)
    fix(process, 'env', Object.create(null))
    fix(process, 'argv', ['node'])
    fix(process, 'execArgv', [])
    for (const name of ['WebSocket', 'EventSource', 'WebSocketStream', 'Storage', 'localStorage', 'sessionStorage', 'require', 'module', 'exports', '__filename', '__dirname'])
      delete globalThis[name]
    for (const name of Module.builtinModules) if (!['console', 'crypto', 'process'].includes(name)) delete globalThis[name]
    // What the flag for this very program has opened is shut again.
    for (const name of Object.keys(opened)) fix(opened, name, undefined)
    Module.syncBuiltinESMExports()
  }
  return { lock, refused, isRefused }
}
`

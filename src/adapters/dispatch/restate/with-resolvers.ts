/**
 * `Promise.withResolvers` for Node 20, where Restate's SDK needs it and the runtime does not have it yet.
 *
 * Owns that one name, added only where it is missing, and only when this dispatcher is chosen.
 */
interface Resolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T | PromiseLike<T>) => void
  readonly reject: (reason?: unknown) => void
}

const withResolvers = <T>(): Resolvers<T> => {
  let resolve: Resolvers<T>['resolve'] = () => {}
  let reject: Resolvers<T>['reject'] = () => {}
  const promise = new Promise<T>((one, other) => {
    resolve = one
    reject = other
  })
  return { promise, resolve, reject }
}

export const provideWithResolvers = (): void => {
  if ('withResolvers' in Promise) return
  Object.defineProperty(Promise, 'withResolvers', { value: withResolvers, writable: true, configurable: true })
}

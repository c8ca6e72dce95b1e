/**
 * The login as the page meets it: who one is, what to do when it has ended, and how to end it.
 *
 * The login itself is a page of the server, without a program. It leads back to where one was.
 */
import { getJson, mountPath, Problem, postForm, whenRefused } from './client.ts'
import type { WhoAmI } from './documents.ts'
import { isLogin, learnMe } from './me.ts'

const UNAUTHENTICATED = 401

const goToLogin = (): void => {
  const { pathname, search } = window.location
  window.location.assign(`${mountPath()}/login?next=${encodeURIComponent(`${pathname}${search}`)}`)
}

/** Without an answer the page stays as it is: it says itself that the server is away. */
export const askWhoIAm = async (): Promise<void> => {
  try {
    learnMe(await getJson<WhoAmI>('/api/me'))
  } catch (error) {
    if (error instanceof Problem && error.status === UNAUTHENTICATED) goToLogin()
  }
}

/** On loopback a refusal only means that nobody is named. */
export const watchForTheEnd = (): void =>
  whenRefused((status) => {
    if (status === UNAUTHENTICATED && isLogin()) goToLogin()
  })

export const logOut = async (): Promise<void> => {
  await postForm('/logout')
  window.location.assign(`${mountPath()}/login`)
}

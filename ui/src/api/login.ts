/**
 * Loads the current user, redirects to the login page when the login has expired, and logs out.
 *
 * The server renders the login page itself, without JavaScript. After login it redirects back to this address.
 */
import { getJson, mountPath, Problem, postForm, whenRefused } from './client.ts'
import type { WhoAmI } from './documents.ts'
import { isLogin, learnMe } from './me.ts'

const UNAUTHENTICATED = 401

const goToLogin = (): void => {
  const { pathname, search } = window.location
  window.location.assign(`${mountPath()}/login?next=${encodeURIComponent(`${pathname}${search}`)}`)
}

/** If the server does not respond, the page stays: the queries show the error. */
export const askWhoIAm = async (): Promise<void> => {
  try {
    learnMe(await getJson<WhoAmI>('/api/me'))
  } catch (error) {
    if (error instanceof Problem && error.status === UNAUTHENTICATED) goToLogin()
  }
}

/** Goes to the login page on a 401. On loopback there is no login: a 401 only means that no user name is set. */
export const watchForTheEnd = (): void =>
  whenRefused((status) => {
    if (status === UNAUTHENTICATED && isLogin()) goToLogin()
  })

export const logOut = async (): Promise<void> => {
  await postForm('/logout')
  window.location.assign(`${mountPath()}/login`)
}

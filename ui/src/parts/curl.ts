/** Words and requests for a shell. Owns the spelling; what it asks for is its caller's. */

/** In single quotes where a shell would read something into it. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** A request for the same, with the token from where the command line has it, too. */
export const curlOf = (origin: string, path: string, isLogin: boolean): string =>
  ['curl -s', ...(isLogin ? ['-H "authorization: Bearer $TRIHAND_TOKEN"'] : []), shellWord(`${origin}${path}`)].join(
    ' ',
  )

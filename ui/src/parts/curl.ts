/** Quotes words and writes curl commands for a shell. */

/** Adds single quotes if the word has characters that a shell interprets. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** A curl command for a URL. With a login it reads the token from TRIHAND_TOKEN, as the command line does. */
export const curlOf = (origin: string, path: string, isLogin: boolean): string =>
  ['curl -s', ...(isLogin ? ['-H "authorization: Bearer $TRIHAND_TOKEN"'] : []), shellWord(`${origin}${path}`)].join(
    ' ',
  )

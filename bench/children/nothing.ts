/** Child process that only reports that it has started: the cost of starting Node. */
process.stdout.write('up\n')
setInterval(() => {}, 60_000)

/** A process that does nothing but say that it is there: what a start of Node costs by itself. */
process.stdout.write('up\n')
setInterval(() => {}, 60_000)

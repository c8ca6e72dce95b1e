/** Sets the environment variables of one workload while it is measured, and restores them afterwards. */
export const withEnvironment = async <Result>(
  settings: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> => {
  const before = Object.keys(settings).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, settings)
  try {
    return await work()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

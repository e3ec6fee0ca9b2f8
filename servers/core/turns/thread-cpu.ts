function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** CPU time of this thread in ms; what else the machine does is not in it. Windows counts it in steps of 16 ms: there it is absent. */
export const systemCpuMs = process.platform === "win32" ? undefined : threadCpuMs;

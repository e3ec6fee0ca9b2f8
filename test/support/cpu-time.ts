/** CPU time in ms that this thread needs for it: what else the machine does is not counted. The kernel counts in steps of 4 ms. */
export function threadCpuMs(run: () => unknown): number {
  const from = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(from);
  return (user + system) / 1_000;
}

/** CPU time in ms that this process, with its other threads, needs until it is done. */
export async function processCpuMs(run: () => Promise<unknown>): Promise<number> {
  const from = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}

/** The least of a few repetitions: the first ones are compiled, and some meet a garbage collection. */
export async function leastCpuMs(run: () => Promise<unknown>, repetitions = 5): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let repetition = 0; repetition < repetitions; repetition++) least = Math.min(least, await processCpuMs(run));
  return least;
}

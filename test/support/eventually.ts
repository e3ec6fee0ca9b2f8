/** For what tells nobody when it changes, such as a process of the system: asks again until it holds. */
export async function eventually(holds: () => boolean | Promise<boolean>, what: string, timeoutMs = 60_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

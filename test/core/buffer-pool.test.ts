import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { expect, it } from "vitest";

const tellsPoolSize = "data:text/javascript,setInterval(() => process.send({ poolSize: Buffer.poolSize }), 20)";

it("[BL-399] in the process of a service a short buffer that waits keeps at most 8 KiB", async () => {
  const child = fork(path.resolve("servers/service-process.ts"), ["grpc"], { execArgv: ["--import", tellsPoolSize] });
  const ended = once(child, "exit");
  const sizes = new Set<number>();
  while (!sizes.has(8 << 10)) {
    const [message] = (await once(child, "message")) as [{ readonly poolSize?: number }];
    if (message.poolSize !== undefined) sizes.add(message.poolSize);
  }
  child.kill("SIGKILL");
  await ended;
  expect([...sizes].at(-1)).toBe(8 << 10);
});

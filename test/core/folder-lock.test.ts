import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { lockFolder } from "../../servers/core/files/folder-lock.ts";
import { runService } from "../../servers/core/service/run-service.ts";
import { defineService } from "../../servers/core/service/service.ts";
import { fixtureService } from "../supervisor/fixture-service.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

/** Another process that has the folder. */
async function startHolder(folder: string) {
  const program = `import { lockFolder } from ${JSON.stringify(path.resolve("servers/core/files/folder-lock.ts"))};
    await lockFolder(process.argv[1]); console.log("locked"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  onTestFinished(kill);
  await once(child.stdout, "data");
  async function kill() {
    child.kill("SIGKILL");
    await gone;
  }
  return { pid: child.pid, kill };
}

it("[BL-19] a folder locked by another process is refused with its pid, and free after that process was killed", async () => {
  const folder = path.join(temporaryDir(), "account");
  const holder = await startHolder(folder);
  await expect(lockFolder(folder)).rejects.toMatchObject({
    code: "DATA_IN_USE",
    message: `Another Backlot (pid ${holder.pid}) has ${folder} open`,
  });
  await holder.kill();
  const release = await lockFolder(folder);
  release();
});

it("[BL-19] a folder is free again after its release, and a released lock leaves no file", async () => {
  const folder = path.join(temporaryDir(), "account");
  const release = await lockFolder(folder);
  await expect(lockFolder(folder)).rejects.toMatchObject({ code: "DATA_IN_USE" });
  release();
  expect(readdirSync(folder)).toEqual(["in-use"]);
  (await lockFolder(folder))();
});

it("[BL-19] what a broken lock file has in it is dropped", async () => {
  const folder = temporaryDir();
  writeFileSync(path.join(folder, "in-use"), "garbage".repeat(1_000));
  const release = await lockFolder(folder);
  await expect(lockFolder(folder)).rejects.toMatchObject({ code: "DATA_IN_USE" });
  release();
});

it("[BL-19] [BL-531] a service with files locks its folder while it runs, and while its data is browsed, and the hint says what frees it", async () => {
  const folder = path.join(temporaryDir(), "http");
  const order: string[] = [];
  const service = defineService({
    ...fixtureService("http"),
    actions: {},
    keepsFiles: () => true,
    async start({ dataDir, onStop }) {
      onStop(() => void order.push(readdirSync(dataDir()).sort().join(" ")));
      return [];
    },
    browse: {
      fields: [],
      async open({ dataDir }) {
        dataDir();
      },
    },
  });
  const running = await runService(service, { dataDir: folder });
  for (const mode of ["serve", "browse"] as const) {
    await expect(runService(service, { dataDir: folder, mode })).rejects.toMatchObject({
      code: "DATA_IN_USE",
      hint: "Stop the service there, or give this Backlot a folder of its own with --data-dir.",
    });
  }
  await running.stop();
  expect(order).toEqual(["in-use in-use-by"]);
  const browsing = await runService(service, { dataDir: folder, mode: "browse" });
  await expect(runService(service, { dataDir: folder })).rejects.toMatchObject({
    code: "DATA_IN_USE",
    message: `Another Backlot (pid ${process.pid}) has ${folder} open: the service does not run there, but its page shows what is in it`,
    hint: expect.stringMatching(/^Leave that page and wait a minute, or choose "Stop all" .* --data-dir\.$/),
  });
  await browsing.stop();
  await (await runService(service, { dataDir: folder })).stop();
});

it("[BL-19] a folder on a full disk is locked all the same, without the pid", async ({ skip }) => {
  const folder = temporaryDir();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    skip("this user may not mount a small disk");
  }
  onTestFinished(() => void execFileSync("umount", ["-l", folder]));
  expect(() => writeFileSync(path.join(folder, "full"), Buffer.alloc(1 << 20))).toThrow("ENOSPC");
  const release = await lockFolder(folder);
  await expect(lockFolder(folder)).rejects.toMatchObject({ code: "DATA_IN_USE" });
  release();
});

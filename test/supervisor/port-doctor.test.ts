import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isPortFree, nextFreePort, parseLsof, pidInNetstat, portHolder } from "../../servers/supervisor/port-doctor.ts";
import { holdPort, holdUdpPort } from "../support/port-holder.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

describe("port doctor", () => {
  it.skipIf(process.platform === "win32")("[BL-62] names the process that listens, by the program's name", async () => {
    const { pid, port } = await holdPort();
    expect(await portHolder(port)).toEqual({ name: "node", pid });
    expect(await isPortFree(port, false)).toBe(false);
  });

  it("[BL-62] names no process if none listens or the system does not say", async () => {
    const { port } = await holdPort();
    expect(await portHolder(port, "tcp", "aix")).toSatisfy((holder) => holder === undefined || typeof holder === "object");
    expect(await portHolder(1)).toBeUndefined();
  });

  it("[BL-63] finds the next free port, past taken and reserved ones", async () => {
    const { port } = await holdPort();
    const next = (await nextFreePort(port)) as number;
    expect(next).toBeGreaterThan(port);
    expect(await isPortFree(next, false)).toBe(true);
    const reserved = (await nextFreePort(port, { reserved: new Set([next]) })) as number;
    expect(reserved).toBeGreaterThan(next);
    const both = await holdPort(next);
    expect(both.port).toBe(next);
    expect(await nextFreePort(port)).toBeGreaterThan(next);
  });

  it.skipIf(process.platform === "win32")("[BL-154] names who holds a UDP port, which is free for TCP", async () => {
    const { pid, port } = await holdUdpPort();
    expect(await portHolder(port, "udp")).toEqual({ name: "node", pid });
    expect(await portHolder(port, "tcp")).toBeUndefined();
    expect([await isPortFree(port, false, "udp"), await isPortFree(port, false, "tcp")]).toEqual([false, true]);
    expect(await nextFreePort(port - 1, { transports: ["tcp", "udp"] })).toBeGreaterThan(port);
  });

  it.skipIf(process.platform !== "linux")("[BL-156] names another Backlot by its service, and not as node", async () => {
    const program = path.join(temporaryDir(), "servers", "service-process.ts");
    mkdirSync(path.dirname(program));
    writeFileSync(program, 'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port));');
    const child = spawn(process.execPath, [program, "http"], { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(child, "close");
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await closed;
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    expect(await portHolder(Number(line.toString()))).toEqual({ name: "another Backlot", pid: child.pid, parent: process.pid });
  });

  it("[BL-154] parses the output of lsof and netstat for both transports", () => {
    expect(parseLsof("p812\ncturnserver\nf7\n")).toEqual({ name: "turnserver", pid: 812 });
    expect(parseLsof("")).toBeUndefined();
    const netstat = [
      "  Proto  Local Address          Foreign Address        State           PID",
      "  TCP    127.0.0.1:50111        127.0.0.1:3478         ESTABLISHED     99",
      "  TCP    0.0.0.0:3478           0.0.0.0:0              LISTENING       4",
      "  UDP    0.0.0.0:3478           *:*                                    812",
      "  UDP    [::]:3479              *:*                                    813",
    ].join("\r\n");
    expect(pidInNetstat(netstat, 3478, "tcp")).toBe(4);
    expect(pidInNetstat(netstat, 3478, "udp")).toBe(812);
    expect(pidInNetstat(netstat, 3479, "udp")).toBe(813);
    expect(pidInNetstat(netstat, 50111, "tcp")).toBeUndefined();
  });

  it("[BL-63] finds no port beyond the last one", async () => {
    expect(await nextFreePort(65_535)).toBeUndefined();
  });

  it("a port that is taken only on ::1 or another address is not free", async () => {
    const wide = await holdPort(0, "0.0.0.0");
    expect([await isPortFree(wide.port, false), await isPortFree(wide.port, true)]).toEqual([false, false]);
  });
});

import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import { onEnd } from "../support/start-service.ts";
import { hasIpv6, secret, startTurn, testCertificates, user } from "./turn-harness.ts";

const longTerm = ["-u", user.username, "-w", user.password];

/** coturn's client: what it prints at its end, or an error when it does not end well. */
function runUclient(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile("turnutils_uclient", [...args], { timeout: 60_000, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      resolve(`${stdout}${stderr}${error ? `\n${error.message}` : ""}`);
    });
    onEnd(() => child.kill("SIGKILL"));
  });
}

it("[WEBRTC-70] coturn's turnutils_uclient relays without loss in each of its modes", async () => {
  const certificates = await testCertificates();
  const server = await startTurn({ tls: { port: 0, certificates, tlsHandshakes: 100 }, limits: { allocationsPerUser: 1_000 } });
  const modes: Readonly<Record<string, readonly string[]>> = {
    "channels over UDP, with a reserved port for RTCP": longTerm,
    "Send and Data indications": [...longTerm, "-s"],
    "DONT-FRAGMENT": [...longTerm, "-g"],
    "without RTCP": [...longTerm, "-c"],
    "padding in UDP": [...longTerm, "-D"],
    "channels over TCP": [...longTerm, "-t"],
    "indications over TCP": [...longTerm, "-t", "-s"],
    "channels over TLS": [...longTerm, "-t", "-S"],
    "time-limited credentials": ["-u", "grace", "-W", secret],
    ...(hasIpv6 && { "IPv6 relays": [...longTerm, "-x"], "relays of both families": [...longTerm, "-Z"] }),
  };
  const outputs = await Promise.all(
    Object.entries(modes).map(async ([mode, flags]) => {
      const port = flags.includes("-S") ? server.tlsPort : server.port;
      return [mode, await runUclient([...flags, "-y", "-m", "2", "-n", "5", "-l", "170", "-p", String(port), "127.0.0.1"])] as const;
    }),
  );
  // -y: the clients are one another's peers, so each message passes two relays.
  for (const [mode, output] of outputs) {
    const sent = /tot_send_msgs=(\d+), tot_recv_msgs=(\d+)\s*\n.*tot_send_bytes[^\n]*\n[^\n]*Total transmit/.exec(output);
    expect(output, `${mode}: ${server.logs.filter((line) => line.startsWith("info")).join("\n")}`).toContain(
      "Total lost packets 0 (0.000000%)",
    );
    expect(Number(sent?.[1]), `${mode}: ${output.slice(-2_000)}`).toBeGreaterThan(0);
    expect(sent?.[2], mode).toBe(sent?.[1]);
  }
  expect(server.logs.filter((line) => line.startsWith("error"))).toEqual([]);
});

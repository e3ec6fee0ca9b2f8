import os, { type NetworkInterfaceInfo } from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { services } from "../../servers/catalog.ts";
import { parseConfig } from "../../servers/core/config/config.ts";
import { reachableEndpoints } from "../../servers/core/net/reachable-endpoints.ts";
import { runService } from "../../servers/core/service/run-service.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

afterEach(() => void vi.restoreAllMocks());

const address = (value: string, internal: boolean, family: "IPv4" | "IPv6" = "IPv4") =>
  ({ address: value, internal, family }) as NetworkInterfaceInfo;
const interfaces = { lo: [address("127.0.0.1", true)], eth0: [address("192.168.1.24", false), address("fe80::1", false, "IPv6")] };
const endpoint = (host: string) => [{ label: "HTTP", url: `http://${host}:8080` }];

it("[BL-65] shows the loopback address, and if open to the LAN the addresses for other machines", () => {
  expect(reachableEndpoints(false, endpoint, interfaces)).toEqual([{ label: "HTTP", url: "http://127.0.0.1:8080" }]);
  expect(reachableEndpoints(true, endpoint, interfaces)).toEqual([
    { label: "HTTP", url: "http://127.0.0.1:8080" },
    { label: "HTTP (LAN)", url: "http://192.168.1.24:8080" },
  ]);
});

/** "turn:" has no slashes, so `URL` finds no host in it. */
const hostOf = ({ url }: { readonly url: string }) => /^[a-z]+:(?:\/\/)?([^/:?]+)/.exec(url)?.[1];
const everythingOn = { tls: true, turns: true, webSocket: true, https: true };

it.each(services.map((service) => [service.id, service] as const))(
  "[BL-65] %s names them before its start and while it runs, for each of its listeners",
  async (_id, service) => {
    vi.spyOn(os, "networkInterfaces").mockReturnValue(interfaces);
    const { shape } = service.config;
    const listeners = service.ports.filter(({ block }) => block?.kind !== "destinations");
    const ports = Object.fromEntries(listeners.map(({ field }) => [field, 0]));
    const switches = Object.fromEntries(Object.entries(everythingOn).filter(([name]) => name in shape));
    const check = (endpoints: readonly { readonly label: string; readonly url: string }[]) => {
      const local = endpoints.filter((each) => hostOf(each) === "127.0.0.1");
      const lan = endpoints.filter((each) => hostOf(each) === "192.168.1.24");
      expect(local.length).toBeGreaterThanOrEqual(listeners.length);
      expect(lan).toEqual(local.map(({ label, url }) => ({ label: `${label} (LAN)`, url: url.replace("127.0.0.1", "192.168.1.24") })));
      expect(endpoints.length).toBe(local.length + lan.length);
    };
    check(service.endpoints(parseConfig(service, { ...switches, openToLan: true }) as never));
    const running = await runService(service, { dataDir: temporaryDir(), config: { ...switches, ...ports, openToLan: true } });
    try {
      check(running.endpoints);
    } finally {
      await running.stop();
    }
  },
);

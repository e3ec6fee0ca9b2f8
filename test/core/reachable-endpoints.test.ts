import type { NetworkInterfaceInfo } from "node:os";
import { expect, it } from "vitest";
import { reachableEndpoints } from "../../servers/core/reachable-endpoints.ts";

const address = (value: string, internal: boolean, family: "IPv4" | "IPv6" = "IPv4") =>
  ({ address: value, internal, family }) as NetworkInterfaceInfo;
const interfaces = { lo: [address("127.0.0.1", true)], eth0: [address("192.168.1.24", false), address("fe80::1", false, "IPv6")] };
const endpoint = (host: string) => ({ label: "HTTP", url: `http://${host}:8080` });

it("[BL-65] shows loopback, and open to the LAN the addresses that other machines use", () => {
  expect(reachableEndpoints(false, endpoint, interfaces)).toEqual([{ label: "HTTP", url: "http://127.0.0.1:8080" }]);
  expect(reachableEndpoints(true, endpoint, interfaces)).toEqual([
    { label: "HTTP", url: "http://127.0.0.1:8080" },
    { label: "HTTP (LAN)", url: "http://192.168.1.24:8080" },
  ]);
});

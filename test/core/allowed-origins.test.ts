import os from "node:os";
import { expect, it } from "vitest";
import { parseConfig } from "../../servers/core/config/config.ts";
import { createOriginRule } from "../../servers/core/http/messages/cors.ts";
import { createOriginCheck, hasPrivateHost, isByPublicName, isOfOwnPage } from "../../servers/core/net/allowed-origins.ts";
import { httpService } from "../../servers/http/http-service.ts";

it("[BL-460] what is no origin, or no host to redirect to, is refused where it is configured, with the name of its field", () => {
  const read = (values: Record<string, readonly string[]>) => parseConfig(httpService, values);
  const origins = ["*", "null", "https://App.example.com/", "http://a:80", "capacitor://localhost", "chrome-extension://abc"];
  expect(read({ corsOrigins: origins }).corsOrigins).toEqual(origins);
  for (const wrong of ["app.example.com", "https://a/b", "https://u@a", "http://", "", "a b", `http://${"a".repeat(3_000)}`])
    expect(() => read({ corsOrigins: ["*", wrong] })).toThrow(/corsOrigins/);
  for (const host of ["*", "*.example.com", "a_b", "10.0.0.1", "[::1]"])
    expect(read({ redirectHosts: [host] }).redirectHosts).toEqual([host]);
  for (const wrong of ["http://a", "a:80", "a/b", "bücher.example", ""])
    expect(() => read({ redirectHosts: [wrong] })).toThrow(/redirectHosts/);
});

it("[HTTP-20] origins are compared as browsers write them", () => {
  const allows = createOriginRule(["https://App.example.com/", "http://a:80", "capacitor://localhost", "null"]);
  expect(["https://app.example.com", "http://a", "capacitor://localhost", "null", undefined].map(allows)).not.toContain(false);
  expect(["http://app.example.com", "https://app.example.com:8443", "http://b", `http://${"a".repeat(9_000)}`].map(allows)).not.toContain(
    true,
  );
});

it("[BL-310] a Host of this computer is an address, a name of one label, a private name or its own name", () => {
  const own = [
    "127.0.0.1:8443",
    "[::1]:8443",
    "192.168.1.7",
    "localhost",
    "backlot:8443",
    "a.localhost",
    "mac.local:1",
    "host.docker.internal",
    os.hostname(),
  ];
  expect(own.filter((host) => !hasPrivateHost(host))).toEqual([]);
  const other = [
    undefined,
    "",
    "evil.example",
    "evil.example:8443",
    "127.0.0.1.evil.example",
    "localhost.evil.com",
    "local.example.com",
    "a b",
  ];
  expect(other.filter(hasPrivateHost)).toEqual([]);
  const page = (origin: string, host: string, encrypted = false) => isOfOwnPage({ headers: { origin, host }, socket: { encrypted } });
  expect(page("http://127.0.0.1:8443", "127.0.0.1:8443")).toBe(true);
  expect(page("https://127.0.0.1:8443", "127.0.0.1:8443", true)).toBe(true);
  expect(page("http://127.0.0.1:8443", "127.0.0.1:8443", true)).toBe(false);
  expect(page("http://evil.example", "evil.example")).toBe(false);
});

it("[BL-310] a request by a public name is known, unless pages of that name are allowed", () => {
  const allowed = createOriginCheck(["http://dev.example.com:8443"]);
  const asks = (host: string | undefined, encrypted = false) => isByPublicName({ headers: { host }, socket: { encrypted } }, allowed);
  expect(asks("evil.example:8888")).toBe(true);
  expect(asks("dev.example.com:8443", true)).toBe(true);
  expect(asks("dev.example.com:8443")).toBe(false);
  expect(asks("127.0.0.1:8888")).toBe(false);
  expect(asks("backlot:8888")).toBe(false);
  // HTTP/1.0, which no browser speaks.
  expect(asks(undefined)).toBe(false);
});

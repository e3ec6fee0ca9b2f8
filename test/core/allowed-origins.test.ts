import os from "node:os";
import { expect, it } from "vitest";
import { createOriginCheck, hasPrivateHost, isByPublicName, isOfOwnPage } from "../../servers/core/net/allowed-origins.ts";

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

import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createCredentialCheck } from "../../servers/account/access/credential-check.ts";
import { createFailureLimits } from "../../servers/core/credentials/failure-limits.ts";
import { HashTurns, type LoginClient, LoginQueue } from "../../servers/core/credentials/login-queue.ts";
import { createPasswords, type Passwords } from "../../servers/core/credentials/passwords.ts";
import { ClientLeft } from "../../servers/core/service/client-left.ts";
import { basic, email, password, send, startAccount } from "./harness.ts";

const clientAt = (address: string): LoginClient => ({ address, connection: {}, hasLeft: () => false });

it("[AC-61] logins that wait have turns by address, by account and by connection", () => {
  const queue = new LoginQueue<string>(() => {});
  const [kept, fresh] = [clientAt("192.0.2.1"), clientAt("192.0.2.1")];
  queue.pass(kept, "many");
  for (let login = 0; login < 3; login++) queue.add(kept, "many", `many ${login}`);
  queue.add(fresh, "many", "fresh connection");
  queue.add(kept, "few", "other account");
  queue.add(clientAt("192.0.2.2"), "many", "other address");
  const order = Array.from({ length: 6 }, () => queue.take());
  expect(order).toEqual(["other address", "other account", "fresh connection", "many 0", "many 1", "many 2"]);
  expect(queue.take()).toBeUndefined();
});

it("[AC-61] beyond the bound the address, account and connection that have most waiting lose a login", () => {
  const lost: string[] = [];
  const queue = new LoginQueue<string>((item) => lost.push(item), 8);
  const many = clientAt("192.0.2.1");
  queue.add(clientAt("192.0.2.2"), "b", "address");
  queue.add(many, "b", "account");
  queue.add(clientAt("192.0.2.1"), "a", "connection");
  for (let login = 0; login < 5; login++) queue.add(many, "a", `many ${login}`);
  for (const newcomer of ["x", "y"]) queue.add(clientAt("192.0.2.1"), "a", newcomer);
  expect(lost).toEqual(["many 4", "many 3"]);
});

it("[AC-61] a login of another account or connection waits for few hashes, however many logins of its address wait", async () => {
  const { url } = await startAccount({ scryptCost: 13, loginFailures: 5 });
  let done = 0;
  const count = async (answer: Promise<{ readonly status: number }>) => {
    expect((await answer).status).toBe(200);
    done++;
  };
  const many = Array.from({ length: 100 }, () => count(send(`${url}/login`, "POST", { username: email, password })));
  await Promise.race(many);
  const before = done;
  await count(send(`${url}/login`, "POST", { username: "billing@example.org", password }));
  expect(done - before).toBeLessThan(50);
  await Promise.all(many);
});

it("[AC-65] of logins that wait those are lost whose client has left, before others are lost or have a turn", () => {
  const lost: string[] = [];
  const queue = new LoginQueue<string>((item, { name }) => lost.push(`${item} ${name}`), 2);
  let left = false;
  const leaving = { ...clientAt("192.0.2.1"), hasLeft: () => left };
  queue.add(leaving, "a", "first");
  queue.add(clientAt("192.0.2.2"), "a", "stays");
  left = true;
  queue.add(leaving, "a", "second");
  expect(lost).toEqual(["first ClientLeft", "second ClientLeft"]);
  expect([queue.take(), queue.take()]).toEqual(["stays", undefined]);
});

it("[AC-65] what was hashed counts as a failure although its client has left, and what was not hashed does not", async () => {
  const limits = createFailureLimits({ failures: 10, windowMs: 60_000 });
  const users = { byEmail: () => undefined, get: () => undefined, set: () => {} };
  const write = () => Promise.reject(new Error("nothing is written"));
  const turns = new HashTurns();
  const { promise: hashed, resolve: hash } = Promise.withResolvers<boolean>();
  const passwords: Passwords = {
    ...createPasswords({ costExponent: 10 }),
    verify: (_password, _stored, { client, account }) => turns.run(client, account, () => hashed),
  };
  const check = createCredentialCheck({ users, passwords, limits, write });
  let left = false;
  const client = { ...clientAt("192.0.2.1"), hasLeft: () => left };
  const logins = Array.from({ length: 5 }, () => check.password(email, "wrong", client));
  const settled = Promise.allSettled(logins);
  // Two have begun by then.
  await new Promise(setImmediate);
  left = true;
  hash(false);
  const reasons = (await settled).map((result) => (result.status === "rejected" ? result.reason.name : "accepted"));
  expect(reasons).toEqual(["AccessRefused", "AccessRefused", "ClientLeft", "ClientLeft", "ClientLeft"]);
  expect(limits.usage().busiest.map(({ failures }) => failures)).toEqual([2, 2]);
  await expect(check.password(email, "wrong", client)).rejects.toThrow(ClientLeft);
});

/** Each on a connection of its own. Resolves with the first answer. */
async function openLogins(port: number, count: number): Promise<readonly Socket[]> {
  const body = JSON.stringify({ username: email, password });
  const head = `POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) {
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    socket.write(`${head}${body}`);
  }
  await Promise.race(sockets.map((socket) => new Promise((resolve) => socket.once("data", resolve))));
  return sockets;
}

it("[AC-65] logins that wait are not hashed after their client has left", async () => {
  const { url, port, rows, act } = await startAccount({ scryptCost: 14 });
  const sockets = await openLogins(port, 60);
  for (const socket of sockets) socket.destroy();
  // Another connection of the same account has its turn after all of them.
  expect((await send(`${url}/login`, "POST", { username: email, password })).status).toBe(200);
  expect((await act("session.list", {})).matching).toBeLessThan(15);
  await expect.poll(() => new Set(rows.map(({ id }) => id)).size).toBe(61);
});

it("[AC-65] a check that several wait for is done as long as one of them waits", async () => {
  const { url, port } = await startAccount({ scryptCost: 14, basicCacheSeconds: 0 });
  const many = await openLogins(port, 10);
  const first = connect(port, "127.0.0.1");
  onTestFinished(() => void first.destroy());
  first.write(`GET /details HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${basic().Authorization}\r\n\r\n`);
  await new Promise((resolve) => first.once("connect", resolve));
  const second = fetch(`${url}/details`, { headers: basic() });
  await new Promise(setImmediate);
  first.destroy();
  expect((await second).status).toBe(200);
  for (const socket of many) socket.destroy();
});

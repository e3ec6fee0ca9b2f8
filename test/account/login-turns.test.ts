import { expect, it } from "vitest";
import { type LoginClient, LoginQueue } from "../../servers/core/credentials/login-queue.ts";
import { email, password, send, startAccount } from "./harness.ts";

const clientAt = (address: string): LoginClient => ({ address, connection: {} });

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

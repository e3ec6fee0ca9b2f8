import { expect, it } from "vitest";
import { curl } from "../http/curl.ts";
import { ask, basic, bearer, email, login, password, send, startAccount, userId } from "./harness.ts";

const sample =
  '{"client":{"id":"1","email":"api@example.com","lastlogin":"2016-12-30 12:24:28","ip":"192.0.2.44","host":"client.example.net",' +
  '"firstname":"Joe","lastname":"Doe","companyname":"Example Ltd","address1":"Pretty View Lane","address2":"3294","city":"Santa Rosa",' +
  '"state":"CA","postcode":"95401","country":"US","phonenumber":"+1.24123223"}}';

it("[AC-26] GET /details returns the record with every value a string, in the order clients expect; a {} body on GET is accepted", async () => {
  const { url } = await startAccount();
  expect((await ask(`${url}/details`, { headers: basic() })).text).toBe(sample);
  const withBody = await curl(
    "-X",
    "GET",
    "-u",
    `${email}:${password}`,
    "-H",
    "Content-Type: application/json",
    "-d",
    "{}",
    `${url}/details`,
  );
  expect([withBody.status, withBody.body]).toEqual([200, sample]);
});

it("[AC-26] last_login is the last login by the user's own clock", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const { token } = await login(url);
  const { client } = (await ask(`${url}/details`, { headers: bearer(token) })).json;
  expect(client.lastlogin).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  expect(Math.abs(Date.parse(`${client.lastlogin.replace(" ", "T")}Z`) - Date.now())).toBeLessThan(10_000);
  expect([client.ip, client.host]).toEqual(["127.0.0.1", "localhost"]);
  await act("user.shiftClock", { id: await userId(service), seconds: -86_400 });
  await login(url);
  const { lastLogin } = (await act("user.list", { text: email })).users[0] ?? { lastLogin: "" };
  expect(lastLogin < client.lastlogin).toBe(true);
});

it("[AC-27] an option adds newsletter and privacypolicy", async () => {
  const { url } = await startAccount({ richDetails: true });
  expect((await ask(`${url}/details`, { headers: basic() })).text).toBe(sample.replace("}}", ',"newsletter":[""],"privacypolicy":[""]}}'));
});

it("[AC-28] PUT /details changes each allowed field, by form or JSON, and returns the record", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const change = {
    type: "Private",
    companyname: "New Ltd",
    companyregistrationnumber: "HRB 1",
    vateu: "DE1",
    firstname: "Jö",
    lastname: "D'oe",
    country: "de",
    address1: "Straße 1",
    city: "Köln",
    state: "NW",
    postcode: "50667",
    phonenumber: "+49.221",
    emarketing: true,
  };
  const answer = await send(`${url}/details`, "PUT", change, basic());
  expect([answer.status, answer.json.client]).toEqual([
    200,
    expect.objectContaining({ firstname: "Jö", lastname: "D'oe", country: "DE", city: "Köln", address2: "3294", email }),
  ]);
  const { contact } = (await act("user.read", { id: await userId(service) })) ?? {};
  expect(contact).toMatchObject({ type: "Private", companyregistrationnumber: "HRB 1", vateu: "DE1", emarketing: "1" });
  const form = await curl("-X", "PUT", "-u", `${email}:${password}`, "--data-urlencode", "city=San José", `${url}/api/details`);
  expect(JSON.parse(form.body).client).toMatchObject({ city: "San José", firstname: "Jö" });
  expect((await send(`${url}/details`, "PUT", {}, basic())).text).toBe(form.body);
});

it("[AC-29] unknown fields and wrong values are 400 with their names, and nothing is changed", async () => {
  const { url } = await startAccount();
  const cases: readonly (readonly [unknown, string[]])[] = [
    [{ city: "X", nickname: "a", address2: "b" }, ["unknownfield: nickname", "unknownfield: address2"]],
    ['{"__proto__":{"a":1},"constructor":1}', ["unknownfield: __proto__", "unknownfield: constructor"]],
    [{ country: "USA", city: ["X"], firstname: "a\nb" }, ["invalidfield: country", "invalidfield: city", "invalidfield: firstname"]],
    [{ email: "no address" }, ["invalidfield: email"]],
    [{ email: "mfa@example.com" }, ["emailtaken"]],
    [{ lastname: "x".repeat(201) }, ["invalidfield: lastname"]],
    [{ lastname: null }, ["invalidfield: lastname"]],
  ];
  for (const [body, error] of cases) {
    const answer = await send(`${url}/details`, "PUT", body, basic());
    expect([answer.status, answer.json]).toEqual([400, { error }]);
  }
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`.repeat(20), ""]));
  const { error } = (await send(`${url}/details`, "PUT", many, basic())).json;
  expect([error.length, error[0].length]).toEqual([20, "unknownfield: ".length + 60]);
  expect((await ask(`${url}/details`, { headers: basic() })).text).toBe(sample);
});

it("[AC-30] a changed e-mail address is the new login name; tokens stay valid", async () => {
  const { url } = await startAccount();
  const { token } = await login(url);
  expect((await send(`${url}/details`, "PUT", { email: "Joe@Example.org" }, bearer(token))).json.client.email).toBe("Joe@Example.org");
  expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(200);
  expect((await send(`${url}/login`, "POST", { username: email, password })).status).toBe(401);
  expect((await login(url, "joe@example.org")).token).toBeTruthy();
});

it("[AC-31] GET /balance, /invoice and /service return the specified shapes; one item is read by its number", async () => {
  const { url } = await startAccount();
  const get = async (path: string) => (await ask(url + path, { headers: basic() })).text;
  expect(await get("/balance")).toBe('{"details":{"currency":"USD","acc_balance":"4.92","acc_credit":"12.50"}}');
  const unpaid =
    '{"id":"1003","number":"INV-1003","date":"2019-11-06","datepaid":"0000-00-00 00:00:00","total":"4.92","subtotal":"4.00","status":"Unpaid","currency":"USD"}';
  expect(await get("/invoice/1003")).toBe(`{"invoices":[${unpaid}]}`);
  expect(JSON.parse(await get("/invoice")).invoices.map(({ id }: { id: string }) => id)).toEqual(["1003", "1002", "1001"]);
  expect((await get("/invoice")).startsWith(`{"invoices":[${unpaid},`)).toBe(true);
  const service =
    '{"id":"32723","domain":"example.com","total":"4.000","status":"Active","billingcycle":"Monthly","next_due":"2019-12-06",' +
    '"category":"Hosting","category_url":"hosting","name":"Starter Hosting"}';
  expect(await get("/service/32723")).toBe(`{"services":[${service}]}`);
  expect(JSON.parse(await get("/service")).services.map(({ id }: { id: string }) => id)).toEqual(["292", "32723"]);
  expect(await get("/service")).toContain(service);
});

it("[AC-32] another user's invoice, service or zone gets the same answer as one that does not exist", async () => {
  const { url } = await startAccount();
  const paths = [
    "/invoice/1004",
    "/invoice/9",
    "/invoice/x",
    "/invoice/-1",
    "/invoice/1e3",
    "/service/32724",
    "/service/99999999999999999999",
  ];
  for (const path of [...paths, "/service/293/dns/1179", "/service/292/dns/1179", "/service/32723/dns/1178", "/service/x/dns/y"]) {
    const answer = await ask(url + path, { headers: basic() });
    expect([answer.status, answer.text], path).toEqual([404, '{"error":["notfound"]}']);
    expect((await ask(url + path)).status).toBe(401);
  }
  const foreign = await send(`${url}/service/293/dns/1179/records`, "POST", { type: "A", content: "192.0.2.1" }, basic());
  expect(foreign.status).toBe(404);
});

import { expect, it } from "vitest";
import { curl } from "../http/curl.ts";
import { rawConnection } from "../http/harness.ts";
import { python } from "../http/python.ts";
import { until } from "../support/until.ts";
import { ask, basic, email, login, password, send, startAccount } from "./harness.ts";
import { shell } from "./shell.ts";

const zonePath = "/service/292/dns/1178";
interface ListedRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly content: string;
}
const recordsOf = async (url: string): Promise<ListedRecord[]> =>
  Object.values((await ask(url + zonePath, { headers: basic() })).json.records as Record<string, ListedRecord>);
const add = (url: string, body: unknown) => send(`${url}${zonePath}/records`, "POST", body, basic());

it("[AC-33] GET /dns returns service numbers and zones, with the keys in the specified order", async () => {
  const { url } = await startAccount();
  expect((await ask(`${url}/dns`, { headers: basic() })).text).toBe(
    '{"service_ids":["292"],"zones":[{"domain_id":"1178","name":"example.com","service_id":"292"}]}',
  );
  expect((await ask(`${url}/dns`, { headers: basic("billing@example.org") })).text).toBe(
    '{"service_ids":["293"],"zones":[{"domain_id":"1179","name":"orchard.example","service_id":"293"},' +
      '{"domain_id":"1180","name":"studio.example","service_id":"293"}]}',
  );
});

it("[AC-34] a zone's records are an object by position, SOA and NS first, every value a string, TXT in quotes", async () => {
  const { url } = await startAccount();
  const { text } = await ask(url + zonePath, { headers: basic() });
  const soa =
    '"0":\n{"id":"1","domain_id":"1178","name":"example.com","type":"SOA","content":"ns1.backlot.example hostmaster.example.com 2019110601 10800 3600 604800 3600",' +
    '"ttl":"86400","prio":"0","change_date":"1573041600","priority":"0"}';
  expect(text.startsWith(`{"service_id":"292","name":"example.com","records":{${soa},"1":\n{"id":"2",`)).toBe(true);
  expect(
    text
      .split("\n")
      .slice(1)
      .map((line) => line.split('"').slice(1, 4)),
  ).toEqual(["1", "2", "3", "4", "5", "6", "7"].map((id) => ["id", ":", id]));
  const { records } = JSON.parse(text);
  expect(Object.keys(records)).toEqual(["0", "1", "2", "3", "4", "5", "6"]);
  expect((Object.values(records) as ListedRecord[]).map(({ type }) => type)).toEqual(["SOA", "NS", "NS", "A", "MX", "TXT", "CNAME"]);
  expect(records[5].content).toBe('"v=spf1 mx -all"');
  await add(url, { type: "NS", content: "ns3.backlot.example" });
  expect((await recordsOf(url)).map(({ type }) => type)).toEqual(["SOA", "NS", "NS", "NS", "A", "MX", "TXT", "CNAME"]);
});

it("[AC-35] adding a record returns success, record and info, by JSON or form; omitted fields have defaults", async () => {
  const { url } = await startAccount();
  const before = Math.floor(Date.now() / 1_000);
  const answer = await add(url, { name: "_acme-challenge.www.example.com", type: "TXT", content: "abc-123", ttl: "10", priority: "5" });
  const { change_date } = answer.json.record;
  expect([answer.status, answer.text]).toEqual([
    200,
    '{"success":true,"record":{"id":"22","domain_id":"1178","name":"_acme-challenge.www.example.com","type":"TXT","content":"\\"abc-123\\"",' +
      `"ttl":10,"prio":"5","change_date":"${change_date}","priority":5},"info":[["dnsnewrecordadded","TXT"]]}`,
  ]);
  expect(Number(change_date)).toBeGreaterThanOrEqual(before);
  const form = await curl("-u", `${email}:${password}`, "-d", "type=a&content=192.0.2.77", `${url}${zonePath}/records`);
  expect(JSON.parse(form.body).record).toMatchObject({ name: "example.com", type: "A", content: "192.0.2.77", ttl: 3_600, priority: 0 });
  // What a client read before may be sent back whole.
  const whole = { id: "", domain_id: "", name: "mail", type: "MX", ttl: "300", prio: "20", content: "mx.example.net" };
  expect((await add(url, whole)).json.record).toMatchObject({ name: "mail.example.com", prio: "20", priority: 20, ttl: 300 });
});

it("[AC-36] a name may be whole or relative to the zone; a TXT value is quoted once and escaped", async () => {
  const { url } = await startAccount();
  const names: readonly (readonly [unknown, string])[] = [
    ["www.example.com", "www.example.com"],
    ["WWW.Example.COM.", "WWW.Example.COM"],
    ["a.b", "a.b.example.com"],
    ["@", "example.com"],
    ["", "example.com"],
    [null, "example.com"],
    ["notexample.com", "notexample.com.example.com"],
    ["*", "*.example.com"],
  ];
  for (const [name, full] of names) {
    expect((await add(url, { name, type: "A", content: "192.0.2.1" })).json.record.name).toBe(full);
  }
  const contents: readonly (readonly [string, string])[] = [
    ["plain", '"plain"'],
    ['"quoted"', '"quoted"'],
    ['"two" "parts"', '"two" "parts"'],
    ['in "the" middle', '"in \\"the\\" middle"'],
    ["back\\slash", '"back\\\\slash"'],
    ['"open', '"\\"open"'],
  ];
  for (const [content, stored] of contents) expect((await add(url, { type: "TXT", content })).json.record.content).toBe(stored);
});

it("[AC-37] PUT changes the given fields; DELETE removes; there is always exactly one SOA", async () => {
  const { url } = await startAccount();
  const { id } = (await add(url, { name: "x", type: "TXT", content: "one", ttl: 60 })).json.record;
  const path = `${url}${zonePath}/records/${id}`;
  const changed = await send(path, "PUT", { content: "two", type: null, name: null }, basic());
  expect([changed.status, changed.text]).toEqual([200, '{"success":true,"info":["dnsrecordupdated"]}']);
  const found = (await recordsOf(url)).find((record) => record.id === id);
  expect(found).toMatchObject({ name: "x.example.com", type: "TXT", content: '"two"', ttl: "60" });
  const removed = await ask(path, { method: "DELETE", headers: basic() });
  expect([removed.status, removed.text]).toEqual([200, '{"success":true}']);
  expect((await ask(path, { method: "DELETE", headers: basic() })).text).toBe('{"error":["notfound"]}');
  expect((await send(path, "PUT", { content: "x" }, basic())).status).toBe(404);

  const soa = `${url}${zonePath}/records/1`;
  expect((await ask(soa, { method: "DELETE", headers: basic() })).text).toBe('{"error":["soaneeded"]}');
  expect((await send(soa, "PUT", { type: "A", content: "192.0.2.1" }, basic())).text).toBe('{"error":["invalidfield: type"]}');
  expect((await send(soa, "PUT", { name: "moved" }, basic())).text).toBe('{"error":["invalidfield: name"]}');
  expect((await send(soa, "PUT", { content: "garbage" }, basic())).text).toBe('{"error":["invalidfield: content"]}');
  expect((await send(soa, "PUT", { ttl: 60, name: "@" }, basic())).status).toBe(200);
  const newer = "ns1.backlot.example. host\\.master.example.com 2019110602 10800 3600 604800 3600";
  expect((await send(soa, "PUT", { content: newer }, basic())).status).toBe(200);
  expect((await add(url, { type: "SOA", content: "a b 1 2 3 4 5" })).status).toBe(400);
});

it("[AC-37] a zone keeps a name server at its top", async () => {
  const { url } = await startAccount();
  const [first, last] = [2, 3].map((id) => `${url}${zonePath}/records/${id}`) as [string, string];
  expect((await ask(first, { method: "DELETE", headers: basic() })).status).toBe(200);
  expect((await ask(last, { method: "DELETE", headers: basic() })).text).toBe('{"error":["nsneeded"]}');
  for (const body of [{ type: "A", content: "192.0.2.1" }, { name: "sub" }]) {
    expect((await send(last, "PUT", body, basic())).text).toBe('{"error":["nsneeded"]}');
  }
  expect((await send(last, "PUT", { content: "ns9.backlot.example." }, basic())).status).toBe(200);
  const { id } = (await add(url, { name: "sub", type: "NS", content: "ns.sub.example" })).json.record;
  expect((await ask(`${url}${zonePath}/records/${id}`, { method: "DELETE", headers: basic() })).status).toBe(200);
});

it("[AC-38] an invalid record is 400 and names the field", async () => {
  const { url } = await startAccount();
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{}, "type"],
    [{ type: "BOGUS", content: "x" }, "type"],
    [{ type: 1, content: "x" }, "type"],
    [{ type: "TXT" }, "content"],
    [{ type: "TXT", content: "  " }, "content"],
    [{ type: "TXT", content: "a\u0000b" }, "content"],
    [{ type: "TXT", content: "x".repeat(4_097) }, "content"],
    [{ type: "A", content: "300.1.1.1" }, "content"],
    [{ type: "CNAME", content: "not a host!" }, "content"],
    [{ type: "CNAME", content: "a..b" }, "content"],
    [{ type: "NS", content: "ns 1" }, "content"],
    [{ type: "MX", content: "%%%" }, "content"],
    [{ type: "MX", content: "10 20 mx.example.net" }, "content"],
    [{ type: "AAAA", content: "192.0.2.1" }, "content"],
    [{ type: "AAAA", content: "::ffff:1.2.3.4%eth0" }, "content"],
    [{ type: "A", content: "192.0.2.1", ttl: -1 }, "ttl"],
    [{ type: "A", content: "192.0.2.1", ttl: 1.5 }, "ttl"],
    [{ type: "A", content: "192.0.2.1", ttl: "soon" }, "ttl"],
    [{ type: "MX", content: "mx", priority: 65_536 }, "priority"],
    [{ type: "A", content: "192.0.2.1", name: "a..b" }, "name"],
    [{ type: "A", content: "192.0.2.1", name: "x".repeat(64) }, "name"],
    [{ type: "A", content: "192.0.2.1", name: 'a"b' }, "name"],
  ];
  for (const [body, field] of cases) {
    const answer = await add(url, body);
    expect([answer.status, answer.text], JSON.stringify(body)).toEqual([400, JSON.stringify({ error: [`invalidfield: ${field}`] })]);
  }
  expect(await recordsOf(url)).toHaveLength(7);
  for (const [type, content] of [
    ["CNAME", "_target.xn--bcher-kva.example."],
    ["MX", "10 mx.example.net"],
    ["MX", "."],
    ["PTR", "host.example"],
    ["SRV", "0 5060 sip.example.net"],
    ["CAA", '0 issue "ca.example"'],
  ] as const) {
    expect((await add(url, { type, content })).json.record).toMatchObject({ type, content });
  }
});

it("[AC-39] a shell client finds zone and service by patterns in /dns and adds a TXT record, with one zone and with two", async () => {
  const { url } = await startAccount();
  for (const [user, zone] of [
    [email, "example.com"],
    ["billing@example.org", "studio.example"],
  ] as const) {
    const output = await shell(`
set -eu
auth="Authorization: Basic $(printf %s '${user}:${password}' | base64)"
zones=$(curl -s -H "$auth" -H 'Content-Type: application/json' '${url}/api/dns')
line=$(printf '%s\\n' "$zones" | tr '[' '\\n' | grep '"name"' | tr '}' '\\n' | grep '"name":"${zone}"')
zone=$(printf '%s' "$line" | grep -o '"domain_id":"[0-9]*"' | cut -d'"' -f4)
service=$(printf '%s' "$line" | sed -E 's/.*"domain_id":"([0-9]+)","name":"[^"]+","service_id":"([0-9]+)".*/\\2/')
curl -s -H "$auth" -H 'Content-Type: application/json' -X POST -d '{"name":"_acme-challenge.${zone}","type":"TXT","content":"v-1", "ttl":"10"}' \\
  "${url}/api/service/$service/dns/$zone/records" | grep -o '"success":true'
curl -s -H "$auth" "${url}/api/service/$service/dns/$zone" | tr '}' '\\n' | grep -- 'v-1' | grep -o '"name":"[^"]*"'
`);
    expect(output).toBe(`"success":true\n"name":"_acme-challenge.${zone}"\n`);
  }
});

it("[AC-39] a shell client that cuts a record's id out of its line removes the record", async () => {
  const { url } = await startAccount();
  const { id } = (await add(url, { name: "_acme-challenge", type: "TXT", content: "v-1" })).json.record;
  const output = await shell(`
set -eu
auth="Authorization: Basic $(printf %s '${email}:${password}' | base64)"
record=$(curl -s -H "$auth" '${url}/api${zonePath}' | grep -- 'v-1' | cut -d'"' -f4)
printf '%s\\n' "$record"
curl -s -H "$auth" -X DELETE "${url}/api${zonePath}/records/$record"
`);
  expect(output).toBe(`${id}\n{"success":true}`);
  expect((await recordsOf(url)).map(({ content }) => content)).not.toContain('"v-1"');
});

it("[AC-39] a Python client logs in by form, sends {} on every GET, and keeps its records by the whole name", async () => {
  const { url } = await startAccount();
  const program = `
import json, urllib.parse, urllib.request
base = "${url}/api"
form = urllib.parse.urlencode({"username": "${email}", "password": "${password}"}).encode()
token = json.load(urllib.request.urlopen(base + "/login", form))["token"]
def call(method, path, data={}):
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json"}
    request = urllib.request.Request(base + path, json.dumps(data).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=5) as answer: return json.load(answer)
zone = call("GET", "/dns")["zones"][0]
path = "/service/%s/dns/%s" % (zone["service_id"], zone["domain_id"])
def find(name): return [record for _, record in call("GET", path)["records"].items() if record["name"] == name]
call("POST", path + "/records", {"type": "TXT", "name": "_acme-challenge.fqdn", "content": "token", "ttl": 3600})
record = find("_acme-challenge.fqdn.example.com")[0]
print(record["content"], record["ttl"])
call("PUT", path + "/records/" + record["id"], {"type": "TXT", "name": "_acme-challenge.fqdn", "content": "token2"})
print(find("_acme-challenge.fqdn.example.com")[0]["content"])
print(call("DELETE", path + "/records/" + record["id"]))
print(len(find("_acme-challenge.fqdn.example.com")))`;
  expect(await python(program)).toBe('"token" 3600\n"token2"\n{\'success\': True}\n0\n');
});

it("[AC-40] users, tokens and records survive a restart; a flag and an action bring the sample data back", async () => {
  const service = await startAccount();
  const { refresh } = await login(service.url);
  await add(service.url, { name: "kept", type: "A", content: "192.0.2.9" });
  await service.stop();
  const again = await startAccount({}, service);
  expect((await recordsOf(again.url)).map(({ name }) => name)).toContain("kept.example.com");
  expect((await send(`${again.url}/token`, "POST", { refresh_token: refresh })).status).toBe(200);
  const pair = await login(again.url);
  const opened = async () => (await ask(`${again.url}/details`, { headers: { Authorization: `Bearer ${pair.token}` } })).status;
  expect(await opened()).toBe(200);
  await again.act("user.add", { email: "extra@example.com", password: "x" });
  await again.act("data.reset", {});
  expect(await recordsOf(again.url)).toHaveLength(7);
  expect((await again.act("user.list", {})).users.map((user) => user.email)).toEqual([
    email,
    "billing@example.org",
    "mfa@example.com",
    "former@example.com",
  ]);
  expect((await send(`${again.url}/token`, "POST", { refresh_token: pair.refresh })).status).toBe(401);
  expect(await opened()).toBe(401);
  await add(again.url, { name: "kept", type: "A", content: "192.0.2.9" });
  await again.stop();
  const reset = await startAccount({ resetData: true }, service);
  expect(await recordsOf(reset.url)).toHaveLength(7);
});

it("[AC-38] a zone has at most 1 MiB of names and contents, which records can be changed and removed to stay within", async () => {
  const { url } = await startAccount();
  const largest = { type: "URI", content: "x".repeat(4_096) };
  let answer = await add(url, largest);
  for (let count = 1; count < 300 && answer.status === 200; count++) answer = await add(url, largest);
  expect([answer.status, answer.text]).toEqual([400, '{"error":["zonetoolarge"]}']);
  const records = await recordsOf(url);
  expect(records.length).toBeLessThan(270);
  // A megabyte of JSON, of which each step is a record.
  const zone = await ask(`${url}${zonePath}`, { headers: basic() });
  expect(zone.text).toMatch(/^\{"service_id":"\d+","name":"[^"]+","records":\{"0":\n\{"id":/);
  expect(zone.text.match(/^\{"id":"\d+",/gm)).toHaveLength(records.length);
  const small = await add(url, { type: "A", name: "a", content: "192.0.2.1" });
  expect(small.status).toBe(200);
  const path = (id: string | undefined) => `${url}${zonePath}/records/${id}`;
  expect((await send(path(small.json.record.id), "PUT", largest, basic())).status).toBe(400);
  expect((await send(path(records.at(-1)?.id), "PUT", { content: "y".repeat(4_096) }, basic())).status).toBe(200);
});

it("[AC-64] zones that clients leave unread are bounded: the connection that has most is closed, and others are answered", async () => {
  const service = await startAccount({ allRequestBytes: 3 << 20 });
  const { url, port } = service;
  for (let record = 0; record < 250; record++) await add(url, { type: "TXT", name: `a${record}`, content: "x".repeat(4_000) });
  const { length } = (await ask(url + zonePath, { headers: basic() })).text;
  expect(length).toBeGreaterThan(1_000_000);
  // More of each connection than the operating system takes.
  const requests = `GET ${zonePath} HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic().Authorization}\r\n\r\n`.repeat(16);
  for (let client = 0; client < 4; client++) (await rawConnection(port, requests)).socket.pause();
  await until(() => service.rows.some(({ outcome }) => outcome === "too many bytes of requests"));
  // Not the zone again: while the next zones of the others are made, this connection would have most.
  expect((await ask(`${url}/dns`, { headers: basic() })).status).toBe(200);
});

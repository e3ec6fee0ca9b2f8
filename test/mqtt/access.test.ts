import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { draftOf, parseDraft } from "../../renderer/src/pages/config/draft.ts";
import { draftOfRows, movedTo, newRow, problemOfRow, rowsOf } from "../../renderer/src/pages/config/rows-draft.ts";
import { configFields, resolveConfig } from "../../servers/core/config/config.ts";
import { parseTopicRule } from "../../servers/mqtt/access/topic-rules.ts";
import type { Properties } from "../../servers/mqtt/codec/properties.ts";
import { mqttService } from "../../servers/mqtt/mqtt-service.ts";
import { leastCpuMs } from "../support/cpu-time.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { type Broker, connectPacket, connectWire, openWire, startBroker, type Version, type WireClient } from "./harness.ts";

const connack = async (broker: Broker, version: Version, username?: string, password?: string) =>
  (await connectWire(broker, version, { username, password: password === undefined ? undefined : Buffer.from(password) })).connack.reason;

describe("users", () => {
  it("[MQTT-100] without anonymous access a client needs a user name: 5, or 0x87", async () => {
    const broker = await startBroker({ anonymous: false, users: ["ada:secret"] });
    expect(await connack(broker, 4)).toBe(5);
    expect(await connack(broker, 5)).toBe(0x87);
  });

  it("[MQTT-100] a start without anonymous access and without users is logged as a warning", async () => {
    const nobody = await startBroker({ anonymous: false });
    expect([await connack(nobody, 4), await connack(nobody, 5, "ada", "secret")]).toEqual([5, 0x86]);
    const told = expect.stringMatching(/^Every client is refused: /);
    await expect.poll(() => nobody.logs).toContainEqual(told);
    const open = await startBroker();
    await connack(open, 5);
    await expect.poll(() => open.logs).toContainEqual(expect.stringContaining("connected"));
    expect(open.logs).not.toContainEqual(told);
  });

  it("[MQTT-101] a wrong name or password is refused with 5, or 0x86", async () => {
    const broker = await startBroker({ users: ["ada:secret"] });
    expect(await connack(broker, 4, "ada", "wrong")).toBe(5);
    expect(await connack(broker, 5, "ada", "wrong")).toBe(0x86);
    expect(await connack(broker, 5, "ada")).toBe(0x86);
    expect(await connack(broker, 5, "bob", "secret")).toBe(0x86);
    expect(await connack(broker, 4, "ada", "secret")).toBe(0);
    expect(await connack(broker, 5, "ada", "secret")).toBe(0);
    expect(await connack(broker, 5)).toBe(0);
  });

  it("[MQTT-234] an unknown user name takes as long to refuse as a wrong password", async () => {
    const broker = await startBroker({ users: ["ada:secret"] });
    const refuse = (name: string) => leastCpuMs(async () => expect(await connack(broker, 5, name, "wrong")).toBe(0x86));
    expect(await refuse("nobody")).toBeGreaterThan((await refuse("ada")) / 2);
  });

  it("[MQTT-234] also where the users have hashes that take different work", async () => {
    const salt = randomBytes(12);
    const quick = createHash("sha512").update("secret").update(salt).digest();
    const users = [`bob:$6$${salt.toString("base64")}$${quick.toString("base64")}`, "ada:secret"];
    const broker = await startBroker({ users, loginFailures: 1_000 });
    for (const name of ["bob", "ada"]) expect(await connack(broker, 5, name, "secret")).toBe(0);
    const refuse = (name: string) => leastCpuMs(async () => expect(await connack(broker, 5, name, "wrong")).toBe(0x86));
    const ofAda = await refuse("ada");
    for (const name of ["bob", "nobody"]) expect(await refuse(name)).toBeGreaterThan(ofAda / 2);
  });

  it("[MQTT-260] after too many failed logins, an address is refused without a check until the window has passed", async () => {
    const broker = await startBroker({ users: ["ada:secret"], loginFailures: 3, loginWindowSeconds: 6 });
    const attempts = await Promise.all(Array.from({ length: 6 }, () => connack(broker, 5, "ada", "wrong")));
    expect(attempts.sort()).toEqual([0x86, 0x86, 0x86, 0x9f, 0x9f, 0x9f]);
    expect([await connack(broker, 5, "ada", "secret"), await connack(broker, 4, "ada", "secret")]).toEqual([0x9f, 3]);
    expect(await connack(broker, 5)).toBe(0);
    await expect.poll(() => connack(broker, 5, "ada", "secret"), { interval: 100 }).toBe(0);
  });

  it("[MQTT-101] with no users defined, any name may connect", async () => {
    const broker = await startBroker();
    expect(await connack(broker, 5, "whoever", "whatever")).toBe(0);
  });

  it("[MQTT-102] accepts the lines that user.hash returns", async () => {
    const first = await startBroker();
    const { lines } = await first.act("user.hash", { name: "ada", password: "pass,word:1" });
    expect(lines.join()).not.toContain("pass,word");
    const broker = await startBroker({ anonymous: false, users: lines });
    expect(await connack(broker, 5, "ada", "pass,word:1")).toBe(0);
    expect(await connack(broker, 5, "ada", "pass")).toBe(0x86);
  });

  it("[MQTT-103] accepts a mosquitto password file, $7$ and $6$", async () => {
    const file = path.join(temporaryDir(), "passwords");
    const salt = randomBytes(12);
    const seven = pbkdf2Sync("seven", salt, 101, 64, "sha512");
    const six = createHash("sha512").update("six").update(salt).digest();
    const lines = [
      `seven:$7$101$${salt.toString("base64")}$${seven.toString("base64")}`,
      `six:$6$${salt.toString("base64")}$${six.toString("base64")}`,
    ];
    writeFileSync(file, `# comment\n${lines.join("\n")}\n`);
    const broker = await startBroker({ anonymous: false, passwordFile: file });
    expect(await connack(broker, 5, "seven", "seven")).toBe(0);
    expect(await connack(broker, 5, "six", "six")).toBe(0);
    expect(await connack(broker, 5, "six", "seven")).toBe(0x86);
  });

  it("[MQTT-103] names a file that it cannot read", async () => {
    await expect(startBroker({ passwordFile: "/nowhere/at/all" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "Password file: /nowhere/at/all cannot be read",
      hint: "Correct the path in MQTT_PASSWORD_FILE, or leave it empty.",
    });
  });
});

describe("topic rules", () => {
  it("[MQTT-104] an invalid rule is named", async () => {
    await expect(startBroker({ topicRules: ["* read a", "ada raed b"] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/"ada raed b" is not a valid rule; .*deny filter$/),
    });
  });

  it("[MQTT-109] are rows in the form, each with its error, and saved in the variable's format", () => {
    const given = "* read public/#, ada readwrite home/%u/+,- write in/%c,* deny a b/#";
    const sources = { file: {}, environment: { MQTT_TOPIC_RULES: given }, flags: {} };
    const field = configFields(mqttService, sources).find(({ name }) => name === "topicRules");
    if (field?.type.kind !== "rows") return expect.fail();
    const draft = draftOf(field);
    expect(rowsOf(String(draft))).toEqual([
      ["*", "read", "public/#"],
      ["ada", "readwrite", "home/%u/+"],
      ["-", "write", "in/%c"],
      ["*", "deny", "a b/#"],
    ]);
    expect(parseDraft(field, draft)).toEqual({ value: resolveConfig(mqttService, sources).topicRules });
    const { type } = field;
    const isWrong = (row: readonly string[]) => problemOfRow(type, row) !== undefined;
    // The form refuses what the service does.
    for (const user of ["ada", "*", "-", "", "a b"])
      for (const right of ["read", "write", "readwrite", "deny", "raed", ""])
        for (const filter of ["a", "a b", "/", "#", "+", "a/#", "+/+/a//", "$share/g/#", "%u/%c", "", "a#", "#/a", "a+/b", "a/#/b", "ä"])
          expect([user, right, filter, isWrong([user, right, filter])]).toEqual([
            user,
            right,
            filter,
            parseTopicRule(`${user} ${right} ${filter}`) === undefined || user === "a b",
          ]);
    const wrong = draftOfRows([["*", "read", "a"], newRow(type)]);
    expect(parseDraft(field, wrong)).toEqual({ problem: expect.stringMatching(/^The rule in line 2: A topic filter is needed/) });
    expect(parseDraft(field, "")).toEqual({ value: [] });
    expect(draftOf({ ...field, value: ["ada raed  b", "ada", ""] })).toBe("ada\traed\tb\nada\t\t\n\t\t");
    expect(movedTo(rowsOf(String(draft)), 3, 0).map(([user]) => user)).toEqual(["*", "*", "ada", "-"]);
    expect(movedTo(rowsOf(String(draft)), 0, -1).map(([user]) => user)).toEqual(["*", "ada", "-", "*"]);
  });

  const rules = ["* read public/#", "ada readwrite home/%u/+", "- write in/%c", "* deny public/secret"];

  it("[MQTT-104] allow only the topics they name: SUBACK 0x87 or 0x80, PUBACK 0x87", async () => {
    const broker = await startBroker({ users: ["ada:secret"], topicRules: rules });
    const ada = await connectWire(broker, 5, { username: "ada", password: Buffer.from("secret") });
    expect((await ada.subscribe("public/news")).reasons).toEqual([0]);
    expect((await ada.subscribe("home/ada/+", { qos: 1 })).reasons).toEqual([1]);
    expect((await ada.subscribe("home/+/x")).reasons).toEqual([0x87]);
    expect((await ada.subscribe("#")).reasons).toEqual([0x87]);
    expect((await ada.subscribe("public/secret")).reasons).toEqual([0x87]);
    expect((await ada.subscribe("$share/g/public/#")).reasons).toEqual([0]);
    ada.publish("home/ada/x", "", { qos: 1, packetId: 1 }).publish("public/news", "", { qos: 2, packetId: 2 });
    await ada.expect("publish");
    expect(await ada.expect("puback")).toMatchObject({ reason: 0 });
    expect(await ada.expect("pubrec")).toMatchObject({ reason: 0x87 });
    const anonymous = await connectWire(broker, 4, { clientId: "dev" });
    expect((await anonymous.subscribe("home/ada/x")).reasons).toEqual([0x80]);
    anonymous.publish("in/other", "no", { qos: 1, packetId: 1 });
    // 3.1.1 cannot say no: the answer is positive and the message goes nowhere.
    expect(await anonymous.expect("puback")).toEqual({ type: "puback", packetId: 1, reason: 0 });
    await expect.poll(async () => (await broker.act("topic.search", { filter: "in/other" })).matching).toBe(0);
    // The log says what it could not be told.
    await expect.poll(() => broker.logs).toContain("A message of dev on in/other was refused: The topic rules do not allow it.");
    expect(broker.logs).toContain("dev subscribed to home/ada/x: not authorized");
  });

  it("[MQTT-104] denied topics are not received by a wider subscription, live, retained or shared", async () => {
    const broker = await startBroker({ topicRules: ["* readwrite #", "reader deny secret/#"] });
    const writer = await connectWire(broker, 5);
    writer.publish("secret/a", "retained", { retain: true }).publish("open/a", "retained", { retain: true });
    await writer.expectNothing();
    const reader = await connectWire(broker, 5, { username: "reader" });
    expect((await reader.subscribe("#", { qos: 1 })).reasons).toEqual([1]);
    expect(await reader.expect("publish")).toMatchObject({ topic: "open/a" });
    expect((await reader.subscribe("$share/g/+/b", { qos: 1 }, undefined, 2)).reasons).toEqual([1]);
    const other = await connectWire(broker, 5);
    await other.subscribe("$share/g/+/b");
    for (const topic of ["secret/a", "secret/b", "secret/b", "secret"]) writer.publish(topic, "live", { qos: 1, packetId: 1 });
    writer.publish("open/c", "live");
    expect(await reader.expect("publish")).toMatchObject({ topic: "open/c" });
    for (const _ of ["one", "two"]) expect(await other.expect("publish")).toMatchObject({ topic: "secret/b" });
  });

  it("[MQTT-104] a kept session delivers only what its current user may read", async () => {
    const dataDir = temporaryDir();
    const kept = { cleanStart: false, clientId: "kept", properties: { sessionExpiryInterval: 600 } };
    const users = ["ada:secret", "bob:secret"];
    const as = (username: string) => ({ ...kept, username, password: Buffer.from("secret") });
    const before = await startBroker({ persistence: true, users, topicRules: ["* readwrite #"] }, dataDir);
    const ada = await connectWire(before, 5, as("ada"));
    for (const filter of ["ada/#", "public/+", "$share/g/ada/x"]) await ada.subscribe(filter, { qos: 1 });
    ada.destroy();
    const writer = await connectWire(before, 5);
    for (const topic of ["ada/x", "public/x"]) writer.publish(topic, "missed", { qos: 1, packetId: 1 });
    await writer.expect("puback");
    await writer.expect("puback");
    await before.stop();
    const broker = await startBroker({ persistence: true, users, topicRules: ["* readwrite public/#", "ada readwrite ada/#"] }, dataDir);
    const bob = await connectWire(broker, 5, as("bob"));
    expect(bob.connack.sessionPresent).toBe(true);
    expect(await bob.expect("publish")).toMatchObject({ topic: "public/x" });
    await bob.expectNothing();
    expect((await broker.act("client.read", { clientId: "kept" }))?.subscriptions.map(({ filter }) => filter)).toEqual(["public/+"]);
    await expect
      .poll(() => broker.logs.join())
      .toContain("kept no longer has the rights for 2 subscriptions and 2 messages of its session: they were removed.");
  });

  it("[MQTT-104] a user name in a rule is taken literally", async () => {
    const broker = await startBroker({ topicRules: ["* readwrite own/%u/%c/box"] });
    for (const [username, clientId] of [
      ["$'", "$&"],
      ["%c", "%u"],
    ] as const) {
      const client = await connectWire(broker, 5, { username, clientId });
      expect((await client.subscribe(`own/${username}/${clientId}/box`)).reasons).toEqual([0]);
      expect((await client.subscribe(`own//${clientId}/box/box`)).reasons).toEqual([0x87]);
      expect((await client.subscribe(`own/${clientId}/${clientId}/box`)).reasons).toEqual([0x87]);
    }
  });

  it("[MQTT-104] a client identifier with wildcards does not widen a rule", async () => {
    const broker = await startBroker({ topicRules: ["* readwrite own/%c"] });
    const client = await connectWire(broker, 5, { clientId: "#" });
    expect((await client.subscribe("own/x")).reasons).toEqual([0x87]);
  });
});

describe("enhanced authentication", () => {
  const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const method = "SCRAM-SHA-256";

  const step = (data: string) => ({ authenticationMethod: method, authenticationData: Buffer.from(data) });

  /** Sends both messages of an exchange, the first of them by `begin`, and returns the server's signature that is due. */
  async function prove(client: WireClient, username: string, password: string, begin: (properties: Properties) => void) {
    const bare = `n=${username},r=abcdef`;
    begin(step(`n,,${bare}`));
    const challenge = await client.expect("auth");
    expect(challenge).toMatchObject({ reason: 0x18, properties: { authenticationMethod: method } });
    const reply = challenge.properties?.authenticationData?.toString() ?? "";
    const [, nonce = "", salt = "", count = ""] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(reply) ?? [];
    const salted = pbkdf2Sync(password, Buffer.from(salt, "base64"), Number(count), 32, "sha256");
    const clientKey = hmac(salted, "Client Key");
    const signed = `${bare},${reply},c=biws,r=${nonce}`;
    const signature = hmac(createHash("sha256").update(clientKey).digest(), signed);
    const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0))).toString("base64");
    client.send({ type: "auth", reason: 0x18, properties: step(`c=biws,r=${nonce},p=${proof}`) });
    return `v=${hmac(hmac(salted, "Server Key"), signed).toString("base64")}`;
  }

  async function scram(broker: Broker, password: string) {
    const client = await openWire(broker, 5);
    const verify = await prove(client, "ada", password, (properties) => client.send(connectPacket(5, "scram", { properties })));
    return { client, connack: await client.expect("connack"), verify };
  }

  const proveAgain = (client: WireClient, username: string, password: string) =>
    prove(client, username, password, (properties) => client.send({ type: "auth", reason: 0x19, properties }));

  it("[MQTT-105] SCRAM-SHA-256 accepts the right password, and the broker proves that it knows it", async () => {
    const broker = await startBroker({ anonymous: false, users: ["ada:secret"] });
    const { connack, verify, client } = await scram(broker, "secret");
    expect(connack).toMatchObject({ reason: 0, properties: { authenticationMethod: method, authenticationData: Buffer.from(verify) } });
    expect(await broker.act("client.read", { clientId: "scram" })).toMatchObject({ username: "ada" });
    client.send({
      type: "auth",
      reason: 0x19,
      properties: { authenticationMethod: method, authenticationData: Buffer.from("n,,n=ada,r=again") },
    });
    expect(await client.expect("auth")).toMatchObject({ reason: 0x18, properties: { authenticationMethod: method } });
    client.send({ type: "auth", reason: 0x18, properties: { authenticationMethod: method, authenticationData: Buffer.from("nonsense") } });
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x87 });
  });

  it("[MQTT-481] a client authenticates again as the user who connected, and as no other", async () => {
    const users = ["ada:secret", "bob:secret"];
    const broker = await startBroker({ anonymous: false, users, topicRules: ["ada readwrite #", "bob readwrite public/#"] });
    const { client } = await scram(broker, "secret");
    await client.subscribe("secret/#");
    const verify = await proveAgain(client, "ada", "secret");
    expect(await client.expect("auth")).toMatchObject({
      reason: 0,
      properties: { authenticationMethod: method, authenticationData: Buffer.from(verify) },
    });
    client.publish("secret/x", "as ada");
    expect(await client.expect("publish")).toMatchObject({ topic: "secret/x" });
    await proveAgain(client, "bob", "secret");
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x87 });
  });

  it("[MQTT-105] and refuses a wrong one", async () => {
    const broker = await startBroker({ anonymous: false, users: ["ada:secret"] });
    expect((await scram(broker, "wrong")).connack.reason).toBe(0x87);
  });

  it("[MQTT-261] an exchange that fails in its last step counts as a failed login", async () => {
    const broker = await startBroker({ users: ["ada:secret"], loginFailures: 2, loginWindowSeconds: 600 });
    expect((await scram(broker, "secret")).connack.reason).toBe(0);
    for (let attempt = 0; attempt < 2; attempt++) expect((await scram(broker, "wrong")).connack.reason).toBe(0x87);
    expect((await scram(broker, "secret")).connack.reason).toBe(0x87);
    expect(await connack(broker, 5, "ada", "secret")).toBe(0x9f);
  });

  it("[MQTT-234] SCRAM sends a constant salt for an unknown name, and fails in the last step as for a wrong password", async () => {
    const broker = await startBroker({ anonymous: false, users: ["ada:secret"] });
    const challengeOf = async (name: string) => {
      const client = await openWire(broker, 5);
      const data = Buffer.from(`n,,n=${name},r=nonce`);
      client.send(connectPacket(5, "scram", { properties: { authenticationMethod: method, authenticationData: data } }));
      const reply = (await client.expect("auth")).properties?.authenticationData?.toString() ?? "";
      return { client, reply, salt: /,s=([^,]+),/.exec(reply)?.[1], count: /,i=(\d+)$/.exec(reply)?.[1] };
    };
    const known = await challengeOf("ada");
    const [first, second, other] = [await challengeOf("bob"), await challengeOf("bob"), await challengeOf("eve")];
    expect(first.salt).toBe(second.salt);
    expect(first.salt).not.toBe(other.salt);
    expect([first.salt?.length, first.count]).toEqual([known.salt?.length, known.count]);
    const nonce = /^r=([^,]+)/.exec(first.reply)?.[1];
    const proof = Buffer.from(`c=biws,r=${nonce},p=${Buffer.alloc(32).toString("base64")}`);
    first.client.send({ type: "auth", reason: 0x18, properties: { authenticationMethod: method, authenticationData: proof } });
    expect((await first.client.expect("connack")).reason).toBe(0x87);
  });

  it("[MQTT-106] another method is refused with 0x8C, AUTH without one with 0x82", async () => {
    const broker = await startBroker({ users: ["ada:secret"] });
    expect((await connectWire(broker, 5, { properties: { authenticationMethod: "K" } })).connack.reason).toBe(0x8c);
    const client = await connectWire(broker, 5);
    client.send({ type: "auth", reason: 0x18, properties: { authenticationMethod: method } });
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x82 });
  });

  it("[MQTT-106] a connection keeps its method: AUTH with another one, without one or at the wrong time is 0x82", async () => {
    const broker = await startBroker({ anonymous: false, users: ["ada:secret"] });
    for (const [reason, properties] of [
      [0x19, { authenticationMethod: "K" }],
      [0x19, undefined],
      [0x18, { authenticationMethod: method }],
      [0x00, { authenticationMethod: method }],
    ] as const) {
      const { client } = await scram(broker, "secret");
      client.send({ type: "auth", reason, properties });
      expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x82 });
    }
  });

  it("[MQTT-106] before the CONNACK only AUTH is accepted", async () => {
    const broker = await startBroker({ users: ["ada:secret"] });
    const client = await openWire(broker, 5);
    client.send(connectPacket(5, "x", { properties: { authenticationMethod: method, authenticationData: Buffer.from("n,,n=ada,r=abc") } }));
    await client.expect("auth");
    client.publish("t", "early");
    expect(await client.expect("connack")).toMatchObject({ reason: 0x82 });
  });

  it("[MQTT-108] passwords are saved as hashes, which do not change when saved again", async () => {
    const hashed = await mqttService.hashSecrets?.({ users: ["ada:secret", "bob:pass,word:1"], port: 1 });
    const users = hashed?.users as string[];
    expect(hashed?.port).toBe(1);
    expect(users.map((line) => line.replace(/\$.*/, ""))).toEqual(["ada:", "ada:SCRAM-SHA-256", "bob:", "bob:SCRAM-SHA-256"]);
    expect(users.join()).not.toMatch(/secret|pass,word/);
    expect(await mqttService.hashSecrets?.({ users })).toEqual({ users });
    const broker = await startBroker({ anonymous: false, users });
    expect(await connack(broker, 5, "bob", "pass,word:1")).toBe(0);
  });

  it("[MQTT-107] users are a secret of the configuration except their names, as a list and as text with commas, and in no log line", async () => {
    const sources = { file: { users: "ada:secret, bob:hidden" }, environment: {}, flags: {} };
    const shown = JSON.stringify(configFields(mqttService, sources));
    expect(shown).not.toMatch(/secret,|hidden/);
    expect(configFields(mqttService, sources).find(({ name }) => name === "users")).toMatchObject({
      type: { kind: "credentials" },
      value: ["ada:••••••••", "bob:••••••••"],
    });
    expect(resolveConfig(mqttService, sources).users).toEqual(["ada:secret", "bob:hidden"]);
    const broker = await startBroker({ users: "ada:secret, bob:hidden", logLevel: "debug" });
    const client = await connectWire(broker, 5, { username: "bob", password: Buffer.from("hidden") });
    client.send({ type: "disconnect", reason: 0 });
    await client.expectClose();
    await broker.stop();
    expect(broker.logs.join("\n")).not.toMatch(/secret|hidden/);
  });
});

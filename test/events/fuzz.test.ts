import { connect } from "node:net";
import { expect, it } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import { type Body, eventBody, getPage, post, startEvents } from "./harness.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20_261_120);

it(`[EV-16] randomly changed bodies get 201, 400 or 413 in the error shape, and only those with 201 are stored (seed ${seed})`, async () => {
  const { url, logs } = await startEvents({ rateLimits: false });
  const random = seededRandom(seed);
  const values: unknown[] = [
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    2 ** 53,
    "",
    "x",
    "\0",
    "\ud800",
    "é",
    "x".repeat(40),
    [],
    ["IC"],
    {},
    [[[[]]]],
    "accepted",
  ];
  const pick = <Item>(items: readonly Item[]) => items[random.below(items.length)] as Item;
  function changed(): string | Uint8Array {
    const body: Body = eventBody();
    const keys = Object.keys(body);
    for (let count = random.below(3); count > 0; count--) {
      if (random.chance(0.2)) delete body[pick(keys)];
      else body[random.chance(0.9) ? pick(keys) : pick(["__proto__", "constructor", "id", "toString"])] = pick(values);
    }
    const text = random.chance(0.02) ? JSON.stringify({ ...body, padding: "x".repeat(20_000) }) : JSON.stringify(body);
    if (random.chance(0.7)) return text;
    const bytes = Buffer.from(text);
    for (let count = 1 + random.below(4); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
    return random.chance(0.3) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
  }
  let taken = 0;
  for (let round = 0; round < 40; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(url, changed())));
    for (const answer of answers) {
      const text = await answer.text();
      if (answer.status === 201) {
        taken += 1;
        expect(text).toBe('{"ok":true}');
      } else if (answer.status === 413) expect(text).toBe('{"error":"Request body too large"}');
      else {
        expect(answer.status).toBe(400);
        expect(text).toMatch(/^\{"error":"(?:Malformed JSON in request body"\}$|Validation failed","issues":\[\{"path":")/);
      }
    }
  }
  expect(taken).toBeGreaterThan(50);
  expect((await getPage(url)).total).toBe(taken);
  expect(logs.filter(({ level }) => level === "error")).toEqual([]);
});

it("[EV-16] clients that disconnect in the middle of a body leave nothing behind, and others are served", async () => {
  const { url, port } = await startEvents();
  await Promise.all(
    Array.from(
      { length: 20 },
      () =>
        new Promise<void>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => {
            socket.write('POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{"device_id":');
            setTimeout(() => socket.destroy(), 20);
          });
          socket.on("close", () => resolve());
        }),
    ),
  );
  expect((await post(url, eventBody())).status).toBe(201);
  expect((await getPage(url)).total).toBe(1);
});

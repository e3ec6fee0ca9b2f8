import { expect, it } from "vitest";
import { HttpEntry } from "../../servers/core/http/record/http-entry.ts";
import { createRecorded, recordOf } from "../support/records.ts";
import { seededRandom } from "../support/seeded-random.ts";

const connection = {
  id: 4,
  remote: "127.0.0.1:1",
  local: "127.0.0.1:2",
  openedAt: 0,
  tls: undefined,
  requests: 2,
  latest: undefined,
  unlogged: 0,
};
const beginEntry = (id: number, target = "/a?b=%20") =>
  new HttpEntry({
    id,
    target,
    connection,
    kind: "http",
    method: "POST",
    httpVersion: "1.1",
    client: "curl",
    bodyLimit: 100,
    rawHeaders: ["Host", "a", "X-Latin", "\u00e9\u00ff"],
  });

it("[HTTP-122] an exchange is decoded unchanged, whether it was written in one piece or in many", () => {
  const random = seededRandom(3);
  for (let round = 0; round < 200; round++) {
    const target = `/${"x".repeat(random.below(1_500))}`;
    const more = "y".repeat(random.below(200));
    const whole = beginEntry(1, target);
    const pieces = Object.assign(beginEntry(1, target), { at: whole.at });
    const steps: ((entry: HttpEntry) => void)[] = [
      (entry) => entry.received(Buffer.from("request \u00e4".repeat(round % 5))),
      (entry) => entry.received("\u2022 text"),
      (entry) => entry.receivedAll(),
      (entry) => entry.answeredRaw(201, "HTTP/1.1 201 Created\r\nX-A: 1\r\nX-B:  2 \r\n\r\n", "answer"),
      (entry) => entry.sent(more),
      (entry) => {
        if (round % 3 === 0) entry.aborted = "client left";
        entry.end(["X-Trailer", "t"]);
      },
    ];
    const [one, many] = [createRecorded(), createRecorded()];
    for (const step of steps) {
      step(whole);
      step(pieces);
      if (random.chance(0.5)) many.add({ records: recordOf(pieces) });
    }
    one.add({ records: recordOf(whole) });
    many.add({ records: recordOf(pieces) });
    const timeless = (detail: object | undefined) => ({ ...detail, timing: 0 });
    expect(timeless(many.detail(1))).toEqual(timeless(one.detail(1)));
    expect(one.detail(1)).toMatchObject({
      kind: "http",
      request: {
        target,
        headers: [
          ["Host", "a"],
          ["X-Latin", "\u00e9\u00ff"],
        ],
        trailers: [["X-Trailer", "t"]],
      },
      response: {
        status: 201,
        reason: "Created",
        headers: [
          ["X-A", "1"],
          ["X-B", "2"],
        ],
      },
      connection: { id: 4, remote: "127.0.0.1:1", local: "127.0.0.1:2", requests: 2 },
      timing: { totalMs: expect.any(Number) },
    });
  }
});

it("[HTTP-122] what was written once is not written again", () => {
  const entry = beginEntry(1);
  entry.received(Buffer.alloc(90));
  const first = recordOf(entry).length;
  const second = recordOf(entry).length;
  expect(first - second).toBeGreaterThan(90);
});

it("[HTTP-122] damaged bytes throw only a RecordError (seeded)", () => {
  const entry = beginEntry(1);
  entry.received("body");
  entry.answeredRaw(200, "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "answer");
  entry.end(["T", "u"]);
  const whole = Buffer.from(recordOf(entry));
  for (let seed = 1; seed <= 1_000; seed++) {
    const random = seededRandom(seed);
    const bytes = Buffer.from(whole.subarray(0, random.chance(0.5) ? whole.length : random.below(whole.length)));
    for (let changes = random.below(5); changes > 0 && bytes.length > 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
    const recorded = createRecorded();
    try {
      for (const id of recorded.add({ records: bytes })) recorded.detail(id);
    } catch (error) {
      expect((error as Error).constructor.name, `seed ${seed}: ${(error as Error).stack}`).toBe("RecordError");
    }
  }
});

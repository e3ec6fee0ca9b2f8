import { describe, expect, it } from "vitest";
import { createTopicRules, parseTopicRule } from "../../servers/mqtt/access/topic-rules.ts";
import { topicMatches } from "../../servers/mqtt/codec/topic.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { seededRandom } from "../support/seeded-random.ts";

describe("many topic rules", () => {
  it("[MQTT-251] decide as each of them alone", () => {
    const random = seededRandom(11);
    const pick = <Value>(values: readonly Value[]): Value => values[random.below(values.length)] as Value;
    const levels = () => Array.from({ length: 1 + random.below(4) }, () => pick(["a", "b", "%c", "+", "$x"])).join("/");
    for (let round = 0; round < 300; round++) {
      const texts = Array.from(
        { length: 6 },
        () => `${pick(["ada", "*", "-"])} ${pick(["readwrite", "deny"])} ${levels()}${pick(["", "/#"])}`,
      );
      const rules = texts.flatMap((text) => parseTopicRule(text) ?? []);
      const all = createTopicRules(rules);
      for (const username of ["ada", undefined]) {
        const identity = { clientId: "b", username };
        const topic = levels().replaceAll("+", "a").replaceAll("%c", "b");
        const matches = (isDenied: boolean) =>
          rules.some(
            ({ user, right, filter }) =>
              (right === "deny") === isDenied &&
              (user === "*" || user === (username ?? "-")) &&
              topicMatches(filter.replaceAll("%c", "b"), topic),
          );
        const isAllowed = matches(false) && !matches(true);
        expect([all.mayPublish(identity, topic), all.maySubscribe(identity, topic)], `${topic} ${texts}`).toEqual([isAllowed, isAllowed]);
        expect(all.hiddenFrom(identity)?.(topic) ?? false).toBe(matches(true));
      }
    }
  });

  it("[MQTT-251] take no longer than few", () => {
    const rules = Array.from({ length: 5_000 }, (_, index) => ({ user: "*", right: "readwrite", filter: `a/${index}/+/c/#` }) as const);
    const { maySubscribe } = createTopicRules([...rules, { user: "*", right: "read", filter: "z/#" }]);
    const identity = { clientId: "c", username: undefined };
    const cpuMs = threadCpuMs(() => {
      for (let index = 0; index < 10_000; index++) expect(maySubscribe(identity, `z/${index}/+`)).toBe(true);
    });
    // Rule by rule it takes a minute.
    expect(cpuMs).toBeLessThan(2_000);
  });
});

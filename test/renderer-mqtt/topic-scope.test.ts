import { expect, it } from "vitest";
import { leafStart, topicWithin } from "../../renderer/src/services/mqtt/tree/topic-scope.ts";

it("a topic is shown relative to the chosen branch, or from the first wildcard of a filter", () => {
  const topic = "sensors/hall-a/humidity";
  expect(topicWithin({ topic: "sensors", below: true }, topic)).toBe("hall-a/humidity");
  expect(topicWithin({ topic: "sensors/hall-a", below: true }, topic)).toBe("humidity");
  expect(topicWithin({ topic: "sensors/+/humidity", below: false }, topic)).toBe("hall-a/humidity");
  expect(topicWithin({ topic: "#", below: false }, topic)).toBe(topic);
  expect(topicWithin({ topic: "", below: false }, topic)).toBe(topic);
  expect(topicWithin({ topic: "/a", below: true }, "/a/b")).toBe("b");
  // The branch's own topic, which is among those of branch/#, has no shorter name; nor has one that is empty below it.
  expect(topicWithin({ topic: "sensors", below: true }, "sensors")).toBe("sensors");
  expect(topicWithin({ topic: "sensors", below: true }, "sensors/")).toBe("sensors/");
});

it("the short name of a filter is its last level without a wildcard", () => {
  const leafOf = (filter: string) => filter.slice(leafStart(filter));
  expect(["a/b/c", "a/b/#", "a/+/#", "a/+/c", "#", "a", "/"].map(leafOf)).toEqual(["c", "b/#", "a/+/#", "c", "#", "a", ""]);
});

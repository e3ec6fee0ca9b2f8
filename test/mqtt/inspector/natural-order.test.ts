import { expect, it } from "vitest";
import { compareNatural } from "../../../servers/mqtt/inspector/natural-order.ts";
import { seededRandom } from "../../support/seeded-random.ts";

it("[MQTT-121] names are in natural order: numbers by value", () => {
  const names = "0 1 2 10 100 A1 a a0 a00 a1 a01 a1b a2 a10 a10b a10c b ä -1 x1y2 x1y10 x01y2 x 18446744073709551616 18446744073709551617";
  expect(names.split(" ").sort(compareNatural)).toEqual(
    "-1 0 1 2 10 100 18446744073709551616 18446744073709551617 A1 a a0 a00 a01 a1 a1b a2 a10 a10b a10c b x x01y2 x1y2 x1y10 ä".split(" "),
  );
});

it("[MQTT-347] of long names the beginning is compared", () => {
  const long = (end: string) => `1${"2".repeat(3_000)}${end}`;
  expect(compareNatural(long("1"), long("2"))).toBe(0);
  expect(compareNatural(`b${long("1")}`, `a${long("2")}`)).toBeGreaterThan(0);
});

it("[MQTT-121] the order of any names is consistent", () => {
  const random = seededRandom(9);
  const name = () => Array.from({ length: random.below(5) }, () => "0019a/"[random.below(6)]).join("");
  for (let round = 0; round < 20_000; round++) {
    const [one, other, third] = [name(), name(), name()];
    expect(Math.sign(compareNatural(one, other)) + Math.sign(compareNatural(other, one))).toBe(0);
    expect(compareNatural(one, other) === 0).toBe(one === other);
    if (compareNatural(one, other) < 0 && compareNatural(other, third) < 0) expect(compareNatural(one, third)).toBeLessThan(0);
  }
});

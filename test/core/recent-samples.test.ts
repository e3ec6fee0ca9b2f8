import { expect, it } from "vitest";
import { RecentSamples } from "../../servers/core/traffic/recent-samples.ts";

it("[BL-418] the samples of a plot begin again when the clock is set back: their times go on", () => {
  const samples = new RecentSamples(["bitRate"]);
  for (let second = 0; second < 130; second++) samples.add(7_200 + second, { bitRate: second });
  expect(samples.read().at).toEqual(Array.from({ length: 120 }, (_, index) => 7_210 + index));
  samples.add(7_329, { bitRate: 1 });
  samples.add(100, { bitRate: 2 });
  samples.add(101, {});
  expect(samples.read()).toEqual({ at: [100, 101], bitRate: [2, null] });
});

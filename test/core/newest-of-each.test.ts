import { expect, it } from "vitest";
import { type LogLine, type LogSource, newestOfEach } from "../../contract/log.ts";

const line = (seq: number, source: LogSource): LogLine => ({ seq, at: seq, source, level: "warning", text: "" });

it("[BL-48] of too many lines the source that has most loses its oldest", () => {
  const lines = [line(1, "mqtt"), ...Array.from({ length: 20 }, (_, index) => line(index + 2, "http")), line(30, "grpc"), line(31, "grpc")];
  expect(newestOfEach(lines, 6).map(({ seq, source }) => `${source} ${seq}`)).toEqual([
    "mqtt 1",
    "http 19",
    "http 20",
    "http 21",
    "grpc 30",
    "grpc 31",
  ]);
  expect(newestOfEach(lines, 23)).toEqual(lines);
  expect(newestOfEach([], 3)).toEqual([]);
});

import { expect, it } from "vitest";
import { copyAs } from "../../renderer/src/inspectors/http/copy-as.ts";
import { firstRequest, replayOfTry, sentRequest } from "../../renderer/src/services/try/try-request.ts";

const targetOf = (target: string) => sentRequest({ ...firstRequest, target }).target;

it("[BL-312] a tried target is encoded as a request line needs it, and not more than that", () => {
  expect(targetOf("/a b/grün?q=ö x")).toBe("/a%20b/gr%C3%BCn?q=%C3%B6%20x");
  expect(targetOf(" anything/😀 ")).toBe("/anything/%F0%9F%98%80");
  expect(targetOf("/lone/\ud800")).toBe("/lone/%EF%BF%BD");
  expect(targetOf("/tab\tand\nline")).toBe("/tab%09and%0Aline");
  expect(targetOf('/a%20b?x=[1]&y={2}|"<>')).toBe('/a%20b?x=[1]&y={2}|"<>');
  expect(copyAs("curl", replayOfTry({ ...firstRequest, target: "/a b" }, "http://127.0.0.1:8080"))).toContain(
    "http://127.0.0.1:8080/a%20b",
  );
});

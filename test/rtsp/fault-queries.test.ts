import { expect, it } from "vitest";
import { httpRequest } from "../support/http-request.ts";
import { startRtsp } from "./harness.ts";

const kinds = "loss, delay, jitter, reorder, stall, drop-key-frames, freeze, jump, close, status or description";

it("[RTSP-265] a fault that cannot be started or ended is answered with the field and what it needs", async () => {
  const server = await startRtsp();
  const told = async (method: string, query: string) => {
    const { status, body } = await httpRequest(`${server.httpUrl}/faults/paths/stream${query}`, { method });
    expect(status).toBe(400);
    return (JSON.parse(String(body)) as { error: string }).error;
  };
  expect(await told("POST", "?kind=los")).toBe(`kind: ${kinds} is needed`);
  expect(await told("POST", "")).toBe(`kind: ${kinds} is needed`);
  expect(await told("POST", "?kind=loss&percent=101")).toBe("percent: at most 100 is allowed");
  expect(await told("POST", "?kind=loss")).toBe("percent: it is missing");
  expect(await told("POST", "?kind=delay&delayMs=x")).toBe("delayMs: a number is needed");
  expect(await told("POST", "?kind=stall&forMs=0")).toBe("forMs: at least 1 is needed");
  expect(await told("POST", "?kind=stall&percent=1")).toBe("there is no field percent");
  expect(await told("DELETE", "?kind=los")).toBe(`kind is one of ${kinds.replace(" or ", ", ")}`);
});

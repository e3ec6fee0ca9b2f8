import { describe, expect, it } from "vitest";
import { routeOf, type TryRoute, withRoute } from "../../renderer/src/services/http/try-routes.ts";
import type { TryRequest } from "../../renderer/src/services/try/try-request.ts";

describe("a suggested route", () => {
  const upload: TryRequest = {
    method: "POST",
    target: "/post",
    headers: [
      ["X-Trace", "7"],
      ["Content-Type", "multipart/form-data; boundary=b"],
    ],
    body: "--b--\r\n",
  };
  const delay = routeOf("/api/delay/1") as TryRoute;
  const echo = routeOf("/api/echo") as TryRoute;

  it("has none of the content of another type that was there before, and keeps other header fields", () => {
    expect(withRoute(upload, delay)).toEqual({ method: "GET", target: "/api/delay/1", headers: [["X-Trace", "7"]], body: "" });
    expect(withRoute(upload, echo)).toMatchObject({
      method: "POST",
      headers: [
        ["Content-Type", "application/json"],
        ["X-Trace", "7"],
      ],
      body: echo.body,
    });
  });

  it("keeps a typed JSON body for a later route that takes it", () => {
    const typed: TryRequest = { method: "POST", target: "/", headers: [["Content-Type", "application/json"]], body: '{"typed":1}' };
    const got = withRoute(typed, delay);
    expect(got).toMatchObject({ headers: [], body: typed.body });
    expect(withRoute(got, echo)).toMatchObject({ headers: typed.headers, body: typed.body });
  });
});

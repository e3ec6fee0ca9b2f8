import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  draftWithoutCredentials as accountDraftWithoutCredentials,
  firstDraft as firstAccountDraft,
} from "../../renderer/src/services/account/try/try-draft.ts";
import { triesWithoutCredentials } from "../../renderer/src/services/http/try-history.ts";
import {
  firstDraft as firstMessage,
  draftWithoutCredentials as messageWithoutCredentials,
} from "../../renderer/src/services/mqtt/publish/publish-draft.ts";
import { clientWithoutCredentials, firstTryClient } from "../../renderer/src/services/mqtt/try/try-client-draft.ts";
import { firstRequest, tryRequestSchema, withoutCredentials } from "../../renderer/src/services/try/try-request.ts";
import { readRemembered, schemaLike } from "../../renderer/src/ui/use-remembered.ts";

describe("remembered values of the window", () => {
  const first = { text: "", rows: 50 };

  it("[BL-168] are checked by a schema; an old shape, another type or invalid text is ignored", () => {
    const read = (text: string | undefined) => readRemembered(text, first, schemaLike(first) as z.ZodType<typeof first>);
    expect(read('{"text":"a","rows":100}')).toEqual({ text: "a", rows: 100 });
    for (const text of [undefined, "", "{", "null", '"a"', "[]", '{"text":"a"}', '{"text":1,"rows":50}']) expect(read(text)).toBe(first);
  });

  it("are one of the choices if there are some", () => {
    const read = (text: string) => readRemembered(text, "curl", z.enum(["curl", "python"]));
    expect([read('"python"'), read('"ruby"')]).toEqual(["python", "curl"]);
  });

  it("need a schema if they are a list", () => {
    expect(() => schemaLike({ names: [] })).toThrow("needs a schema");
  });

  it("[BL-168] never have credentials of a tried request", () => {
    const request = {
      method: "GET" as const,
      target: "/bearer",
      headers: [
        ["Authorization", "Bearer abc"],
        ["Accept", "text/plain"],
        ["X-Api-Key", "k"],
      ] as const,
      body: "",
    };
    const kept = withoutCredentials(request);
    expect(kept.headers).toEqual([
      ["Authorization", ""],
      ["Accept", "text/plain"],
      ["X-Api-Key", ""],
    ]);
    expect(triesWithoutCredentials([{ at: 1, request }])).toEqual([{ at: 1, request: kept }]);
    expect(tryRequestSchema.safeParse(JSON.parse(JSON.stringify(kept))).success).toBe(true);
  });

  it.each([
    ['{"password":"s3cretBody"}', ""],
    ["user=ada&passwd=s3cret", ""],
    ['{"data":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x"}', ""],
    ['{"header":"Bearer abcdefgh"}', ""],
    ['{"city":"Santa Rosa","author":"ada"}', '{"city":"Santa Rosa","author":"ada"}'],
  ])("[BL-257] of the body %s the stored value is %j", (body, kept) => {
    expect(withoutCredentials({ ...firstRequest, method: "POST", body }).body).toBe(kept);
    expect(accountDraftWithoutCredentials({ ...firstAccountDraft, body }).body).toBe(kept);
    expect(messageWithoutCredentials({ ...firstMessage, payload: body }).payload).toBe(kept);
    const hex = Buffer.from(body).toString("hex");
    expect(messageWithoutCredentials({ ...firstMessage, payload: hex, encoding: "hex" }).payload).toBe(kept && hex);
    expect(clientWithoutCredentials({ ...firstTryClient, willPayload: body }).willPayload).toBe(kept);
  });

  it.each([
    ["/api/data?limit=10&access_token=abc&q=a%20b", "/api/data?limit=10&access_token=&q=a%20b"],
    ["/login?%70assword=abc", "/login?%70assword="],
    ["/users/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x/1", "/users//1"],
    ["http://ada:s3cret@localhost/", "/"],
    ["/events?limit=10&outcome=accepted", "/events?limit=10&outcome=accepted"],
  ])("[BL-257] of the path %s the stored value is %s", (target, kept) => {
    expect(withoutCredentials({ ...firstRequest, target }).target).toBe(kept);
    expect(accountDraftWithoutCredentials({ ...firstAccountDraft, target }).target).toBe(kept);
  });

  it("[BL-257] have no user property and no header that may be a credential", () => {
    const pairs = [
      ["token", "t"],
      ["note", "Bearer abcdefgh"],
      ["unit", "C"],
    ] as const;
    const kept = [
      ["token", ""],
      ["note", ""],
      ["unit", "C"],
    ];
    expect(messageWithoutCredentials({ ...firstMessage, userProperties: pairs }).userProperties).toEqual(kept);
    expect(withoutCredentials({ ...firstRequest, headers: pairs }).headers).toEqual(kept);
  });
});

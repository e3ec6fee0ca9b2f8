import { describe, expect, it } from "vitest";
import { z } from "zod";
import { triesWithoutCredentials } from "../../renderer/src/services/http/try-history.ts";
import { tryRequestSchema, withoutCredentials } from "../../renderer/src/services/try/try-request.ts";
import { readRemembered, schemaLike } from "../../renderer/src/ui/use-remembered.ts";

describe("what the window remembers", () => {
  const first = { text: "", rows: 50 };

  it("[BL-168] is read in its shape; an old shape, another type or broken text is as if nothing was remembered", () => {
    const read = (text: string | undefined) => readRemembered(text, first, schemaLike(first) as z.ZodType<typeof first>);
    expect(read('{"text":"a","rows":100}')).toEqual({ text: "a", rows: 100 });
    for (const text of [undefined, "", "{", "null", '"a"', "[]", '{"text":"a"}', '{"text":1,"rows":50}']) expect(read(text)).toBe(first);
  });

  it("is one of the choices where there are some", () => {
    const read = (text: string) => readRemembered(text, "curl", z.enum(["curl", "python"]));
    expect([read('"python"'), read('"ruby"')]).toEqual(["python", "curl"]);
  });

  it("needs a schema where it is a list", () => {
    expect(() => schemaLike({ names: [] })).toThrow("needs a schema");
  });

  it("[BL-168] never holds credentials of a tried request", () => {
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
});

import { expect, it } from "vitest";
import { namesSecret } from "../../contract/traffic/secret-names.ts";
import { redactBody } from "../../servers/core/http/record/redact-body.ts";

it.each([
  ["line ends of LF", '--b\nContent-Disposition: form-data; name="password"\n\nopen-sesame\n--b--\n'],
  ["CRLF and no boundary in the type", '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nopen-sesame\r\n--b--\r\n'],
  ["a name that is encoded", "--b\r\nContent-Disposition: form-data; name*=utf-8''p%61ssword\r\n\r\nopen-sesame\r\n--b--\r\n"],
])("[BL-211] a multipart body with %s that an answer repeats as text is hidden", (_what, body) => {
  expect(redactBody(JSON.stringify({ data: body, args: {} }), namesSecret)).toBe('{"data":"•••","args":{}}');
  expect(redactBody(JSON.stringify({ data: body.replace(/p(?:a|%61)ssword/, "animal") }), namesSecret)).toContain("open-sesame");
});

import { expect, it } from "vitest";
import type { RtspMessagePart } from "../../contract/traffic/rtsp.ts";
import { FoundCredentials } from "../../servers/core/credentials/found-credentials.ts";
import { sessionDecoder } from "../../servers/rtsp/observe/session-record.ts";

/** As an export has it: all is looked through before the first part is written. */
function exported(...messages: readonly string[]): string {
  const found = new FoundCredentials();
  const shown = messages.map((text, index): RtspMessagePart => {
    const base64 = Buffer.from(text).toString("base64");
    return { kind: "rtsp-message", index, at: 0, direction: "received", bytes: base64.length, base64 };
  });
  const hide = (part: RtspMessagePart) => sessionDecoder.partWithoutCredentials?.(part, found) as RtspMessagePart;
  found.collect(() => shown.map(hide));
  return shown.map((part) => Buffer.from(hide(part).base64, "base64").toString()).join("\n");
}

const description = (end: string) =>
  [
    "v=0",
    "s=Türkamera",
    "u=https://ann:secret-1@example.org/a",
    "k=clear:secret-2",
    "m=video 0 RTP/AVP 96",
    "k=base64:secret-3",
    "a=fmtp:96 sprop-parameter-sets=Z0IAH//w,aM48gA==",
    "a=control:rtsp://ann:secret-4@host/x?token=secret-5&a=b",
    "a=key-mgmt:mikey secret-6",
    "a=key-mgmt: mikey secret-6",
    "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:secret-7|2^20|1:32",
    "m=audio 0 RTP/AVP 8",
    "a=control:trackID=1?password=secret-8",
    "i=it is secret-2",
    "",
  ].join(end);

it.each([
  ["a description", "\r\n"],
  ["one with short line ends", "\n"],
])("[RTSP-244] exported messages have no keys, passwords and tokens of %s", (_, end) => {
  const head = ["ANNOUNCE rtsp://host/x RTSP/1.0", "CSeq: 1", "Authorization: Basic secret-9", "", ""].join(end);
  const answer = ["RTSP/1.0 200 OK", "CSeq: 2", "Content-Type: application/sdp", "", ""].join(end);
  const text = exported(head + description(end), answer + description(end));
  expect(text).not.toContain("secret-");
  const kept = [
    "s=Türkamera",
    "u=https://…@example.org/a",
    "k=clear:•••",
    "a=fmtp:96 sprop-parameter-sets=Z0IAH//w,aM48gA==",
    "a=control:rtsp://…@host/x?token=…&a=b",
    "a=key-mgmt:mikey •••",
    "a=crypto:1 AES_CM_128_HMAC_SHA1_80 •••",
    "a=control:trackID=1?password=…",
    "i=it is •••",
  ];
  for (const line of kept) expect(text).toContain(end + line + end);
});

import type { MqttTryAnswer } from "../../../../../contract/services/mqtt-try.ts";

/** "PUBACK 0x10 no matching subscribers", with the broker's reason string behind it. */
export function answerText({ packet, reason, meaning, text }: MqttTryAnswer): string {
  const code = reason === undefined ? "" : `0x${reason.toString(16).padStart(2, "0")}`;
  const said = [packet, code, meaning].filter(Boolean).join(" ");
  return text ? `${said}: ${text}` : said;
}

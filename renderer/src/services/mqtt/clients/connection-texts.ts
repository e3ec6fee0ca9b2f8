import type { MqttClient } from "../../../../../contract/services/mqtt-client.ts";
import { formatBytes, formatCount, formatRate } from "../../../ui/texts/quantity.ts";

export interface ConnectionTexts {
  readonly keepAlive: string;
  readonly messages: string;
  readonly bytes: string;
  readonly inflight: string;
  /** Of a client that is away: whose figures these are. */
  readonly title?: string;
}

const unknown = "– not known";
const ofLast = "last connection";

/** `ratePerSecond` is undefined where there is none, as of a broker that has ended. */
export function connectionTexts(client: MqttClient, ratePerSecond: number | undefined): ConnectionTexts {
  const { connected, keepAliveSeconds, messagesIn, messagesOut, bytesIn, bytesOut, unreadBytes, inflight, inflightLimit } = client;
  const said = (parts: readonly (string | false)[]) => [...parts, !connected && ofLast].filter(Boolean).join(", ");
  const inflightText = formatCount(inflight);
  if (keepAliveSeconds === undefined || messagesIn === undefined || messagesOut === undefined) return unknownTexts(inflightText);
  return {
    keepAlive: said([keepAliveSeconds === 0 ? "off" : `${keepAliveSeconds} s`]),
    messages: said([
      `${formatCount(messagesIn)} in, ${formatCount(messagesOut)} out`,
      connected && ratePerSecond !== undefined && `${formatRate(ratePerSecond)}/s`,
    ]),
    bytes: said([
      `${formatBytes(bytesIn ?? 0)} in, ${formatBytes(bytesOut ?? 0)} out`,
      unreadBytes > 0 && `${formatBytes(unreadBytes)} unread`,
    ]),
    // What is in flight stays with the session; only a connection has a limit.
    inflight: connected ? `${inflightText} of ${formatCount(inflightLimit ?? 0)}` : inflightText,
    ...(!connected && { title: "Of its last connection, which has ended." }),
  };
}

const unknownTexts = (inflight: string): ConnectionTexts => ({
  keepAlive: unknown,
  messages: unknown,
  bytes: unknown,
  inflight,
  title: "Its last connection was before the start of this broker, or to another one.",
});

import type { MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";

/** The message that another is compared with: the one that was picked where it is an older one of its topic, otherwise the one before. */
export function comparedWith<Message extends Pick<MqttMessageSummary, "id" | "topic">>(
  chosen: Message,
  picked: Message | undefined,
  newestFirst: readonly Message[],
): Message | undefined {
  const isOlder = ({ id, topic }: Message) => id < chosen.id && topic === chosen.topic;
  return picked && isOlder(picked) ? picked : newestFirst.find(isOlder);
}

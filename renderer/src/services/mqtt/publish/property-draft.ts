import type { MqttReplyParams } from "../../../../../contract/services/mqtt-reply.ts";
import { problemOfTopic } from "../tree/topic-scope.ts";

type SettableProperties = NonNullable<MqttReplyParams["properties"]>;

/** The MQTT 5.0 properties of a form, as typed. */
export interface PropertyDraft {
  readonly isUtf8: boolean;
  readonly expirySeconds: string;
  readonly contentType: string;
  readonly responseTopic: string;
  readonly userProperties: readonly (readonly [key: string, value: string])[];
}

export const noProperties: PropertyDraft = { isUtf8: false, expirySeconds: "", contentType: "", responseTopic: "", userProperties: [] };

export type ParsedProperties =
  | { readonly properties: SettableProperties }
  | { readonly field: "expirySeconds" | "responseTopic"; readonly problem: string };

/** The properties as the broker's actions take them, or the first invalid one with the problem. */
export function parseProperties({ isUtf8, expirySeconds, contentType, responseTopic, userProperties }: PropertyDraft): ParsedProperties {
  const expiry = expirySeconds.trim() === "" ? undefined : Number(expirySeconds);
  if (expiry !== undefined && !(Number.isInteger(expiry) && expiry >= 0 && expiry <= 0xffff_ffff))
    return { field: "expirySeconds", problem: "Whole seconds, at most 4,294,967,295." };
  const responseProblem = responseTopic && problemOfTopic(responseTopic);
  if (responseProblem) return { field: "responseTopic", problem: responseProblem };
  const named = userProperties.filter(([key]) => key !== "").map(([key, value]): [string, string] => [key, value]);
  return {
    properties: {
      ...(isUtf8 && { payloadFormatIndicator: 1 }),
      ...(expiry !== undefined && { messageExpiryInterval: expiry }),
      ...(contentType && { contentType }),
      ...(responseTopic && { responseTopic }),
      ...(named.length > 0 && { userProperties: named }),
    },
  };
}

/** The draft for the properties of a message or a rule. */
type GivenProperties = Omit<SettableProperties, "userProperties"> & {
  readonly userProperties?: PropertyDraft["userProperties"] | undefined;
};

export function propertyDraft(properties: GivenProperties): PropertyDraft {
  const { payloadFormatIndicator, messageExpiryInterval, contentType = "", responseTopic = "", userProperties = [] } = properties;
  return {
    isUtf8: payloadFormatIndicator === 1,
    expirySeconds: messageExpiryInterval === undefined ? "" : String(messageExpiryInterval),
    contentType,
    responseTopic,
    userProperties,
  };
}

/** Whether any is set. */
export const setsProperties = ({ isUtf8, expirySeconds, contentType, responseTopic, userProperties }: PropertyDraft): boolean =>
  isUtf8 || [expirySeconds, contentType, responseTopic].some((text) => text !== "") || userProperties.length > 0;

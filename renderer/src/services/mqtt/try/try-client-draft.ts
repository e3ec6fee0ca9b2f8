import { z } from "zod";
import type { MqttTryConnect } from "../../../../../contract/services/mqtt-try.ts";
import { withoutCredentialText } from "../../../ui/credentials.ts";
import { problemOfTopic } from "../tree/topic-scope.ts";

/** The form, as typed; the password is not part of it, so that it is not remembered. */
export interface TryClientDraft {
  readonly version: 4 | 5;
  readonly clientId: string;
  readonly username: string;
  readonly cleanStart: boolean;
  /** Of 5.0. */
  readonly expirySeconds: string;
  /** Empty: no will. */
  readonly willTopic: string;
  readonly willPayload: string;
  readonly willQos: 0 | 1 | 2;
  readonly willRetain: boolean;
  /** Of 5.0. */
  readonly willDelaySeconds: string;
}

export const tryClientSchema: z.ZodType<TryClientDraft> = z.object({
  version: z.literal([4, 5]),
  clientId: z.string(),
  username: z.string(),
  cleanStart: z.boolean(),
  expirySeconds: z.string(),
  willTopic: z.string(),
  willPayload: z.string(),
  willQos: z.literal([0, 1, 2]),
  willRetain: z.boolean(),
  willDelaySeconds: z.string(),
});

export const clientWithoutCredentials = (draft: TryClientDraft): TryClientDraft => ({
  ...draft,
  willPayload: withoutCredentialText(draft.willPayload),
});

export const firstTryClient: TryClientDraft = {
  version: 5,
  clientId: "dashboard",
  username: "",
  cleanStart: true,
  expirySeconds: "",
  willTopic: "",
  willPayload: "",
  willQos: 0,
  willRetain: false,
  willDelaySeconds: "",
};

export type ParsedTryClient =
  | { readonly options: MqttTryConnect }
  | { readonly field: "clientId" | "expirySeconds" | "willTopic" | "willDelaySeconds"; readonly problem: string };

export function parseTryClient(draft: TryClientDraft, password: string): ParsedTryClient {
  const { version, clientId, username, cleanStart, willTopic, willPayload, willQos, willRetain } = draft;
  if (clientId === "" && version === 4 && !cleanStart)
    return { field: "clientId", problem: "3.1.1 needs an identifier to keep a session." };
  const expiry = secondsOf(draft.expirySeconds);
  if (expiry === undefined) return { field: "expirySeconds", problem: wholeSeconds };
  const willProblem = willTopic && problemOfTopic(willTopic);
  if (willProblem) return { field: "willTopic", problem: willProblem };
  const willDelay = secondsOf(draft.willDelaySeconds);
  if (willDelay === undefined) return { field: "willDelaySeconds", problem: wholeSeconds };
  const isV5 = version === 5;
  return {
    options: {
      version,
      clientId,
      ...(username && { username }),
      // MQTT 3.1.1 §3.1.2.9: no password without a name.
      ...(password && (username || isV5) && { password }),
      cleanStart,
      sessionExpirySeconds: isV5 ? expiry : 0,
      ...(willTopic && {
        will: { topic: willTopic, payload: willPayload, qos: willQos, retain: willRetain, delaySeconds: isV5 ? willDelay : 0 },
      }),
    },
  };
}

const wholeSeconds = "Whole seconds, at most 4,294,967,295.";

function secondsOf(text: string): number | undefined {
  const seconds = text.trim() === "" ? 0 : Number(text);
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= 0xffff_ffff ? seconds : undefined;
}

/** Whether any option is set. */
export const hasOptions = (draft: TryClientDraft): boolean =>
  draft.username !== "" || !draft.cleanStart || draft.expirySeconds !== "" || draft.willTopic !== "";

/** The client of the copied commands. */
export interface CommandClient extends TryClientDraft {
  readonly password: string;
}

export const plainClient: CommandClient = { ...firstTryClient, clientId: "", password: "" };

/** Placeholders, if the broker requires a login and none is typed. */
export const namedClient = (client: CommandClient, anonymous: boolean | undefined): CommandClient =>
  anonymous === false ? { ...client, username: client.username || "USER", password: client.password || "PASSWORD" } : client;

/** Whether the session outlives the connection; only then the client identifier matters. */
export const keepsSession = ({ version, cleanStart, expirySeconds }: CommandClient): boolean =>
  !cleanStart || (version === 5 && Number(expirySeconds) > 0);

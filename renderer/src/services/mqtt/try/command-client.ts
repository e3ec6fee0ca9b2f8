import { firstTryClient, type TryClientDraft } from "./try-client-draft.ts";

export type BrokerTransport = "mqtt" | "mqtts" | "ws" | "wss";

export interface BrokerAddress {
  readonly transport: BrokerTransport;
  readonly host: string;
  readonly port: string;
  /** With TLS: the file of the authority to trust. */
  readonly caFile?: string;
}

export const usesTls = (transport: BrokerTransport): boolean => transport === "mqtts" || transport === "wss";
export const usesWebSocket = (transport: BrokerTransport): boolean => transport === "ws" || transport === "wss";

/** As whom the copied lines connect. */
export interface CommandClient extends TryClientDraft {
  readonly password: string;
}

export const plainClient: CommandClient = { ...firstTryClient, clientId: "", password: "" };

/** Where the broker asks who one is and nothing is typed yet, words stand in the lines for what the user puts there. */
export const namedClient = (client: CommandClient, anonymous: boolean | undefined): CommandClient =>
  anonymous === false ? { ...client, username: client.username || "USER", password: client.password || "PASSWORD" } : client;

/** Whether the session is to be found again: only then the name matters. */
export const keepsSession = ({ version, cleanStart, expirySeconds }: CommandClient): boolean =>
  !cleanStart || (version === 5 && Number(expirySeconds) > 0);

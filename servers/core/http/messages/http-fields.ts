import { z } from "zod";
import { type FieldMeta, field, portField, tlsHandshakesField, wholeNumber } from "../../config/common-fields.ts";

interface HttpFieldsOptions {
  /** Of the environment variables: "ACCOUNT". */
  readonly prefix: string;
  readonly body: { readonly minimum: number; readonly maximum: number; readonly standard: number; readonly help?: string };
  /** Heading of the timeouts in the form. */
  readonly timesGroup?: string;
  readonly recordedHelp?: string;
}

/** The limits that every service over HTTP has, as fields of its configuration. */
export const httpLimitFields = ({ prefix, body, timesGroup = "Limits", recordedHelp }: HttpFieldsOptions) => ({
  bodyBytes: field(wholeNumber(body.minimum, body.maximum, body.standard), {
    title: "Largest body",
    help: body.help ?? "A larger body gets 413.",
    unit: "B",
    env: `${prefix}_BODY_BYTES`,
    group: "Limits",
  }),
  headerBytes: field(wholeNumber(1_024, 1 << 20, 16 << 10), {
    title: "Largest header",
    help: "Request line and header fields together; larger ones get 431 or 414.",
    unit: "B",
    env: `${prefix}_HEADER_BYTES`,
    group: "Limits",
  }),
  ...connectionFields(prefix),
  unansweredRequests: unansweredField(prefix),
  allUnsentBytes: field(wholeNumber(1 << 16, 2 ** 40, 128 << 20), {
    title: "Unsent bytes of all clients",
    help: "Of answers. Beyond it, the connections with the most waiting bytes are closed.",
    unit: "B",
    env: `${prefix}_ALL_UNSENT_BYTES`,
    group: "Limits",
  }),
  allRequestBytes: allRequestField(prefix),
  ...timeoutFields(prefix, timesGroup),
  recordedBodyBytes: field(wholeNumber(0, 1 << 20, 8 << 10), {
    title: "Recorded body",
    help:
      recordedHelp ?? "First bytes of each body, always kept for the inspector. “Recorded rest of bodies” keeps more where there is room.",
    unit: "B",
    env: `${prefix}_RECORDED_BODY_BYTES`,
    group: "Recorder",
  }),
  recordedBodyRate: field(wholeNumber(0, 64 << 20, 2 << 20), {
    title: "Recorded rest of bodies",
    help: "Bytes a second that are kept beyond the first ones, up to 256 KiB of each body; 0 keeps the first ones only.",
    unit: "B/s",
    env: `${prefix}_RECORDED_BODY_RATE`,
    group: "Recorder",
  }),
});

export const connectionFields = (prefix: string) => ({
  connections: field(wholeNumber(1, 100_000, 10_000), {
    title: "Connections",
    help: "More are closed at once.",
    env: `${prefix}_CONNECTIONS`,
    group: "Limits",
  }),
  connectionsPerAddress: field(wholeNumber(1, 100_000, 8_000), {
    title: "Connections of an address",
    help: "More are closed at once.",
    env: `${prefix}_CONNECTIONS_PER_ADDRESS`,
    group: "Limits",
  }),
});

/** For every service that parses HTTP with `createHttpServers`. */
export const unansweredField = (prefix: string) =>
  field(wholeNumber(1, 100_000, 32), {
    title: "Unanswered requests",
    help: "Of one connection. The next ones are read when half of them are answered.",
    env: `${prefix}_UNANSWERED_REQUESTS`,
    group: "Limits",
  });

export const allRequestField = (prefix: string) =>
  field(wholeNumber(1 << 16, 2 ** 40, 128 << 20), {
    title: "Request bytes of all clients",
    help: "Of heads with 16 KiB each, bodies and WebSocket messages, until they are answered; beyond it, the connections that have the most are refused.",
    unit: "B",
    env: `${prefix}_ALL_REQUEST_BYTES`,
    group: "Limits",
  });

const timeoutFields = (prefix: string, group: string) => {
  const timeout = (minimum: number, standard: number, meta: Pick<FieldMeta, "title" | "help" | "env">) =>
    field(wholeNumber(minimum, 3_600_000, standard), { ...meta, unit: "ms", group });
  return {
    requestTimeoutMs: timeout(100, 30_000, {
      title: "Request timeout",
      help: "For the complete request to arrive; then 408.",
      env: `${prefix}_REQUEST_TIMEOUT_MS`,
    }),
    keepAliveTimeoutMs: timeout(0, 5_000, {
      title: "Idle connections",
      help: "How long a connection is kept open for its next request.",
      env: `${prefix}_KEEP_ALIVE_TIMEOUT_MS`,
    }),
    unreadTimeoutMs: timeout(100, 60_000, {
      title: "Unread answers",
      help: "How long a client may take nothing while an answer waits for it; then its connection is closed.",
      env: `${prefix}_UNREAD_TIMEOUT_MS`,
    }),
  };
};

/** Switch and port of HTTPS. */
export const httpsFields = ({ prefix, port }: { readonly prefix: string; readonly port: number }) => ({
  https: field(z.boolean().default(false), {
    title: "HTTPS",
    help: "Also serve over TLS, with a certificate of this installation's authority; Settings says how to trust it.",
    env: `${prefix}_HTTPS`,
    group: "Listening",
  }),
  httpsPort: portField(port, { title: "HTTPS port", env: `${prefix}_HTTPS_PORT` }),
  tlsHandshakes: tlsHandshakesField(prefix),
});

/** Proxies whose X-Forwarded-For is trusted, for services that count by address. */
export const proxyFields = ({ prefix, group }: { readonly prefix: string; readonly group: string }) => ({
  proxyHops: field(wholeNumber(0, 16, 0), {
    title: "Proxies before it",
    help: "How many proxies add to X-Forwarded-For; with 0 the field is ignored.",
    env: `${prefix}_PROXY_HOPS`,
    group,
  }),
  proxyAddresses: field(z.array(z.string()).default([]), {
    title: "Trusted proxies",
    help: "Addresses or networks whose X-Forwarded-For is trusted; if a number of proxies is set too, after those.",
    env: `${prefix}_PROXY_ADDRESSES`,
    group,
  }),
});

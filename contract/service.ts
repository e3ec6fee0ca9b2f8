/** A service as every part of Backlot sees it: id, state, endpoints, failure. */

/** In the order in which the window lists them. */
export const serviceIds = ["http", "grpc", "mqtt", "rtsp", "webrtc", "account", "events"] as const;
export type ServiceId = (typeof serviceIds)[number];

export type PortTransport = "tcp" | "udp";

/** The label of an endpoint by which other machines reach this one. */
export const lanLabel = (label: string): string => `${label} (LAN)`;
export const isOfLan = ({ label }: Endpoint): boolean => label.endsWith(" (LAN)");

export interface Endpoint {
  /** Name of the protocol: "HTTP", "SSE", "MQTT over WebSocket". */
  readonly label: string;
  /** "http://127.0.0.1:8080", or without slashes "turn:127.0.0.1:3478?transport=udp" (RFC 7065). */
  readonly url: string;
}

/** An error as the user sees it; `docs/errors.md` lists every code. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly fix?: SuggestedFix;
  /** With CONFIG_INVALID: the field that is wrong, for the form to show it there. */
  readonly field?: { readonly name: string; readonly problem: string };
  /** With PORT_IN_USE and PORT_FORBIDDEN: which one. */
  readonly port?: number;
  readonly transport?: PortTransport;
}

/** One change of configuration that is likely to make the next start succeed. */
export interface SuggestedFix {
  /** Text of its button, naming the result: "Use 8085 instead". */
  readonly title: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** A variable or flag is stronger than what is saved, so the change is made by `config.override` and not by `config.write`. */
  readonly thisRun?: true;
}

/** Times are milliseconds since the epoch. The supervisor alone changes a status. */
export type ServiceStatus =
  | { readonly state: "stopped"; readonly lastRun?: { readonly from: number; readonly to: number } }
  | {
      readonly state: "starting";
      readonly since: number;
      /** What it does, in a start that takes long: "compiling protocol files". */
      readonly doing?: string;
    }
  | {
      readonly state: "running";
      readonly since: number;
      readonly pid: number;
      readonly endpoints: readonly Endpoint[];
      /** When its process last reported, while it does not answer. */
      readonly silentSince?: number;
    }
  | { readonly state: "stopping"; readonly since: number }
  | {
      readonly state: "failed";
      readonly since: number;
      readonly failure: Failure;
      /** When the supervisor restarts it; absent when the user has to. */
      readonly retryAt?: number;
    };

/** Its process runs and does not answer. */
export const isSilent = (status: ServiceStatus): boolean => status.state === "running" && status.silentSince !== undefined;

export interface ServiceView {
  readonly id: ServiceId;
  readonly title: string;
  /** Its purpose in a few words. */
  readonly purpose: string;
  /** Of what it counts: "req/s", "call/s", "Mbit/s". Empty for a planned service. */
  readonly rateUnit: string;
  /** False for a service that is planned and not in this version: the rail shows it greyed. */
  readonly built: boolean;
  readonly status: ServiceStatus;
  /** Where it listens, or would listen when started now; 0 is any free port. */
  readonly ports: readonly number[];
  /** Where it would listen when started now. */
  readonly plannedEndpoints: readonly Endpoint[];
  /** Bound to more than loopback, now or at the next start. */
  readonly openToLan: boolean;
  /** Keeps passwords and tokens of clients that it would hide, now or at the next start. */
  readonly recordsCredentials: boolean;
  /** Its configuration changed since it started. */
  readonly restartNeeded: boolean;
  /** Changes with its configuration, by whichever window. */
  readonly configRevision: number;
  /** Sends itself sample traffic. */
  readonly playsSample: boolean;
}

/** A command or program text to copy. */
export interface Snippet {
  readonly label: string;
  readonly language: "shell" | "javascript" | "python";
  readonly text: string;
}

/** As a square of modules; `path` is the data of an SVG path in units of a module. ISO/IEC 18004 asks for four light ones around it. */
export interface QrCode {
  readonly modules: number;
  readonly path: string;
}

import type { ServiceId } from "../../../../contract/service.ts";
import type { Tokens } from "../../ui/theme.ts";

const tokenNames: Readonly<Record<ServiceId, keyof Tokens>> = {
  http: "--bl-s1",
  grpc: "--bl-s2",
  mqtt: "--bl-s6",
  rtsp: "--bl-s5",
  webrtc: "--bl-s4",
  account: "--bl-s3",
  events: "--bl-s7",
};

/** The token of a service's colour in plots, the same wherever it is drawn. */
export const seriesToken = (id: ServiceId): keyof Tokens => tokenNames[id];

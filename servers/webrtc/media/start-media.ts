import type { WebrtcMediaViews } from "../../../contract/services/webrtc-media.ts";
import type { ServiceContext } from "../../core/service/service.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { IceServersFor } from "../ice/ice-servers.ts";
import type { WebRoutes } from "../web/web-routes.ts";
import type { WebrtcConfig } from "../webrtc-config.ts";
import { createDtlsCertificate } from "./dtls/dtls-certificate.ts";
import { MediaRecorder } from "./media-recorder.ts";
import { mediaRoutes } from "./media-routes.ts";
import { MediaSessions } from "./sessions/media-sessions.ts";
import { MediaPort } from "./transport/media-port.ts";

export interface Media {
  readonly routes: WebRoutes;
  /** What the RTSP service asks for. */
  readonly handlers: MediaSessions["handlers"];
  /** The one that listens. */
  readonly port: number;
  /** Ends the session of a row. */
  end(row: number): boolean;
  view(): WebrtcMediaViews["media"];
  /** Of open sessions, and of those that have ended. */
  bytes(): { readonly received: number; readonly sent: number };
}

export interface StartMediaOptions extends Pick<ServiceContext, "services" | "traffic" | "log" | "onStop"> {
  readonly config: WebrtcConfig;
  readonly iceServers: IceServersFor;
  /** Of all clients. */
  readonly turns: WorkTurns;
}

/** Packets of a whole frame over TURN and IPv6 fit into 1,280 bytes. */
const packetBytes = 1_200;
/** Rows of the view; the rest is counted. */
const mostShown = 200;

/** WHEP and WHIP. Resolves when the media port listens. */
export async function startMedia({ config, services, traffic, log, onStop, iceServers, turns }: StartMediaOptions): Promise<Media> {
  const { openToLan, relayAddress } = config;
  const port = await MediaPort.listen({
    port: config.mediaPort,
    openToLan,
    publicAddress: relayAddress,
    requestsPerSecond: config.mediaRequestsPerSecond,
    turns,
    onStop,
    log,
  });
  const recorder = new MediaRecorder({ traffic, log });
  const sessions = new MediaSessions({
    port,
    certificate: await createDtlsCertificate(),
    services,
    observer: recorder,
    turns,
    limits: {
      viewers: config.viewers,
      publishers: config.publishers,
      keptBytes: config.mediaKeptBytes,
      allKeptBytes: config.mediaAllKeptBytes,
      packetBytes,
      connectMs: config.mediaConnectSeconds * 1_000,
      consentMs: config.consentSeconds * 1_000,
      keyFrameMs: config.keyFrameSeconds * 1_000,
      publisherBitRate: config.publisherKbps * 1_000,
    },
  });
  onStop(() => sessions.close("the service stops"));
  return {
    routes: mediaRoutes({ sessions, iceServers, bodyBytes: config.bodyBytes }),
    handlers: sessions.handlers,
    port: port.port,
    end(row) {
      const session = recorder.sessionOf(row);
      if (session) sessions.end(session, "disconnected from the dashboard");
      return session !== undefined;
    },
    view: () => recorder.view(mostShown),
    bytes: () => sessions.bytes(),
  };
}

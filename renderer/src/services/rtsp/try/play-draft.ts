import { z } from "zod";
import { type RtspTransport, rtspTransports } from "../../../../../contract/services/rtsp.ts";
import { withoutOuterSlashes } from "../stream-addresses.ts";

/** The form, as typed; the password is not part of it, so that it is not remembered. */
export interface PlayDraft {
  /** "/stream" */
  readonly path: string;
  readonly transport: RtspTransport;
  readonly username: string;
}

export const playDraftSchema: z.ZodType<PlayDraft> = z.object({
  path: z.string(),
  transport: z.enum(rtspTransports),
  username: z.string(),
});

export const firstPlay: PlayDraft = { path: "/stream", transport: "tcp", username: "" };

/** Without slashes at its ends. */
export const pathOf = ({ path }: PlayDraft): string => withoutOuterSlashes(path.trim());

import type { StatusObject } from "@grpc/grpc-js";
import type { GrpcResend, GrpcResent } from "../../../contract/services/grpc.ts";
import { statusName } from "../engine/status.ts";
import { asIs, metadataOf, type OwnClientOptions, openClient } from "./own-client.ts";

/** Timeout; then a stream without end is cancelled. */
const longestMs = 10_000;

/** Makes a recorded call again: the same metadata and messages, then the half-close. */
export async function resendCall(options: OwnClientOptions, { path, metadata, deadlineMs, messages }: GrpcResend): Promise<GrpcResent> {
  const sent = metadataOf(metadata);
  const client = await openClient(options, "resend");
  const startedAt = performance.now();
  let received = 0;
  try {
    const call = client.makeBidiStreamRequest(
      path,
      asIs,
      asIs,
      sent,
      deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs },
    );
    const limit = setTimeout(() => call.cancel(), longestMs);
    call.on("data", () => received++);
    // The status has the reason.
    call.on("error", () => {});
    const ended = new Promise<StatusObject>((resolve) => call.on("status", resolve));
    for (const message of messages) call.write(Buffer.from(message, "base64"));
    call.end();
    const { code, details } = await ended;
    clearTimeout(limit);
    return { status: { code, name: statusName(code), message: details }, received, tookMs: performance.now() - startedAt };
  } finally {
    client.close();
  }
}

import { errorCodes, type Frame, frameFlags, Http2Error, largestWindow, protocolError, requireLength, settingIds } from "./frames.ts";

const mostSettings = 32;

type Setting = readonly [id: number, value: number];

/** RFC 9113 §6.5: the entries of a SETTINGS frame, in order; undefined for an acknowledgement. Throws an `Http2Error`. */
export function readSettings({ flags, streamId, payload }: Frame): readonly Setting[] | undefined {
  if (streamId !== 0) throw protocolError("SETTINGS is for a stream");
  if (payload.length % 6 !== 0) throw new Http2Error(errorCodes.frameSize, "SETTINGS has half an entry");
  if (payload.length > 6 * mostSettings) throw new Http2Error(errorCodes.enhanceYourCalm, "SETTINGS has too many entries");
  if ((flags & frameFlags.ack) !== 0) {
    requireLength(payload, 0);
    return undefined;
  }
  const settings: Setting[] = [];
  for (let at = 0; at < payload.length; at += 6) settings.push(validSetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2)));
  return settings;
}

/** RFC 9113 §6.5.2 */
function validSetting(id: number, value: number): Setting {
  if (id === settingIds.enablePush && value > 1) throw protocolError("SETTINGS_ENABLE_PUSH is no truth value");
  if (id === settingIds.frameSize && (value < 1 << 14 || value >= 1 << 24)) throw protocolError("SETTINGS_MAX_FRAME_SIZE is not valid");
  if (id === settingIds.initialWindow && value > largestWindow) {
    throw new Http2Error(errorCodes.flowControl, "SETTINGS_INITIAL_WINDOW_SIZE is too large");
  }
  return [id, value];
}

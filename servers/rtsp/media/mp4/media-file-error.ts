import { ServiceError } from "../../../core/service/service-error.ts";

/** A file that contradicts itself or ends too early. `problem` goes on after "because". */
export const damaged = (problem: string): ServiceError =>
  new ServiceError(
    "MEDIA_DAMAGED",
    `The MP4 file cannot be read, because ${problem}.`,
    "Copy the file again. If a player shows it, this command writes it again: ffmpeg -i FILE -c copy -movflags +faststart new.mp4",
  );

/** A sound file with something that cannot be streamed as it is. `found` is a sentence. */
export const unsupported = (found: string, convert: string): ServiceError =>
  new ServiceError("MEDIA_UNSUPPORTED", found, `This makes a file that can be streamed: ${convert}`);

/** ffmpeg's line that keeps what can be streamed and encodes the rest. */
export const convertLine = ({ video, audio }: { video: "copy" | "encode"; audio: "copy" | "encode" }): string => {
  const videoPart = video === "copy" ? "-c:v copy" : "-c:v libx264 -pix_fmt yuv420p -bf 0 -g 50";
  return `ffmpeg -i FILE ${videoPart} ${audio === "copy" ? "-c:a copy" : "-c:a aac"} -movflags +faststart new.mp4`;
};

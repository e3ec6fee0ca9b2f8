import { Button } from "@mantine/core";
import { IconDownload, IconPhoto, IconVolume, IconVolumeOff } from "@tabler/icons-react";
import { type ReactNode, type RefObject, useState } from "react";
import type { RtspPathView } from "../../../../../contract/services/rtsp.ts";
import { saveFile } from "../../../ui/copy/files.ts";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { IconButton } from "../../../ui/toolbar.tsx";
import styles from "./picture.module.css";
import { audioOf, decoderName, videoOf } from "./stream-texts.ts";
import { type StreamPicture, useStreamPicture, useStreamSound } from "./use-stream-picture.ts";

const stillAfterSeconds = 3;

interface StreamPictureProps {
  readonly path: RtspPathView;
  /** Around the picture: `tools` are its buttons, `facts` what was measured of it. */
  readonly children: (parts: PictureParts) => ReactNode;
}

interface PictureParts {
  readonly picture: ReactNode;
  readonly tools: ReactNode;
  /** Frames that were not shown. */
  readonly losses: readonly string[];
  readonly facts: readonly string[];
}

/** The picture of a stream with its buttons. A pulled stream is not fetched for it before the user asks. */
export function StreamPictureParts({ path, children }: StreamPictureProps) {
  const [isAsked, setIsAsked] = useState(false);
  const mayShow = path.ready || isAsked;
  const shown = useStreamPicture(path.name, mayShow && (videoOf(path) !== undefined || !path.ready));
  const { painted, skipped } = shown;
  const hasPicture = shown.state?.state === "playing";
  return children({
    picture: (
      <div className={styles.box} ref={shown.box}>
        <canvas ref={shown.canvas} className={styles.canvas} role="img" aria-label={`Picture of /${shownText(path.name)}`} />
        {mayShow ? (
          <Notice text={noticeOf(path, shown)} />
        ) : (
          <div className={styles.notice}>
            <span>Fetched when somebody plays it</span>
            <Button onClick={() => setIsAsked(true)}>Show the picture</Button>
          </div>
        )}
      </div>
    ),
    tools: (
      <>
        {audioOf(path) && <SoundButton path={path.name} />}
        <IconButton label="Copy the picture" icon={IconPhoto} disabled={!hasPicture} onClick={() => void copyPicture(shown.canvas)} />
        <IconButton
          label="Save the picture"
          icon={IconDownload}
          disabled={!hasPicture}
          onClick={() => void savePicture(shown.canvas, path.name)}
        />
      </>
    ),
    losses: skipped > 0 ? [`${formatCountOf(skipped, "frame")} skipped`] : [],
    facts: hasPicture && painted?.delayMs !== undefined ? [`${Math.round(painted.delayMs)} ms`] : [],
  });
}

const Notice = ({ text }: { readonly text: string | undefined }) => (text === undefined ? null : <p className={styles.notice}>{text}</p>);

/** What is wrong with the picture, or what it waits for; undefined while it plays. */
function noticeOf(path: RtspPathView, { state, stillSeconds }: StreamPicture): string | undefined {
  const video = videoOf(path);
  if (path.ready && !video) return "Sound only";
  if (!state) return "This browser cannot decode streams: it has no WebCodecs. Play it with ffplay or VLC.";
  switch (state.state) {
    case "waiting":
      return stillSeconds >= stillAfterSeconds ? "No key frame has come yet" : "";
    case "unsupported":
      return `This browser cannot decode ${decoderName(state.codec)}: it has no decoder for ${state.codec}. Play it with ffplay or VLC.`;
    case "too-large":
      return `Its pictures of ${state.width} × ${state.height} are too large to show here. Play it with ffplay or VLC.`;
    case "failed":
      return `The picture cannot be decoded: ${state.reason} It is tried again with each key frame.`;
    case "playing":
      return stillSeconds >= stillAfterSeconds ? `No picture for ${stillSeconds} s` : undefined;
    default:
      return state satisfies never;
  }
}

function SoundButton({ path }: { readonly path: string }) {
  const { isOn, toggle, unsupported } = useStreamSound(path);
  const label = unsupported === undefined ? (isOn ? "Sound off" : "Sound on") : `This browser cannot decode ${decoderName(unsupported)}`;
  return <IconButton label={label} icon={isOn ? IconVolume : IconVolumeOff} pressed={isOn} onClick={toggle} />;
}

function pngOf(canvas: RefObject<HTMLCanvasElement | null>): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.current?.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture could not be encoded."))));
  });
}

const copyPicture = (canvas: RefObject<HTMLCanvasElement | null>) =>
  attempt(
    navigator.clipboard
      .write([new ClipboardItem({ "image/png": pngOf(canvas) })])
      .then(() => void notifyDone("The picture is on the clipboard.")),
  );

const savePicture = (canvas: RefObject<HTMLCanvasElement | null>, path: string) =>
  attempt(pngOf(canvas).then((png) => saveFile(`${path.replace(/[^\w-]+/g, "-")}.png`, png, "image/png")));

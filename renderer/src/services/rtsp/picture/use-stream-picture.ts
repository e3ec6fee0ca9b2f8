import { type RefObject, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { rtspBinary } from "../../../../../contract/services/rtsp.ts";
import { useControl } from "../../../control/client-context.tsx";
import { browserCodecs, PictureDecoder, type PictureState } from "./picture-decoder.ts";
import { type PaintedSecond, PicturePainter } from "./picture-painter.ts";
import { SoundPlayer, type SoundState } from "./sound-player.ts";

export interface StreamPicture {
  /** Decoding stops while it is out of view. */
  readonly box: RefObject<HTMLDivElement | null>;
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  /** Undefined in a browser without WebCodecs. */
  readonly state: PictureState | undefined;
  readonly painted: PaintedSecond | undefined;
  /** Seconds without a picture. */
  readonly stillSeconds: number;
  /** Frames that were not shown. */
  readonly skipped: number;
}

interface Figures {
  readonly painted: PaintedSecond | undefined;
  readonly stillSeconds: number;
  readonly skipped: number;
}

const noFigures: Figures = { painted: undefined, stillSeconds: 0, skipped: 0 };
const secondMs = 1_000;

/** The picture of a path on a canvas, while the page is visible and the box is in view. */
export function useStreamPicture(path: string, isWanted: boolean): StreamPicture {
  const client = useControl();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [state, setState] = useState<PictureState>({ state: "waiting" });
  const [figures, setFigures] = useState<Figures>(noFigures);
  const isInView = useInView(box);
  const isVisible = useSyncExternalStore(onVisibility, () => document.visibilityState === "visible");
  const isShown = isWanted && isInView && isVisible;

  useEffect(() => {
    const element = canvas.current;
    if (!isShown || !element || !browserCodecs) return;
    const painter = new PicturePainter(element);
    let skipped = 0;
    const decoder = new PictureDecoder<VideoFrame>({
      codecs: browserCodecs,
      onPicture: (picture, sentAt) => painter.show(picture, sentAt),
      onState: setState,
      onSkipped(count) {
        skipped += count;
      },
      now: Date.now,
    });
    const close = client.binary(rtspBinary, "rtsp", "picture", path, {
      item: (item) => decoder.take(item),
      dropped: (count) => decoder.dropped(count),
    });
    const timer = setInterval(() => {
      const painted = painter.takeSecond();
      const isStill = painted.frameRate === 0;
      setFigures((known) => ({ painted, skipped: known.skipped + skipped, stillSeconds: isStill ? known.stillSeconds + 1 : 0 }));
      skipped = 0;
    }, secondMs);
    return () => {
      clearInterval(timer);
      close();
      decoder.close();
      painter.close();
      setState({ state: "waiting" });
      setFigures(noFigures);
    };
  }, [client, path, isShown]);
  return { box, canvas, state: browserCodecs ? state : undefined, ...figures };
}

export interface StreamSound {
  readonly isOn: boolean;
  toggle(): void;
  /** The browser cannot decode it. */
  readonly unsupported: string | undefined;
}

/** The sound of a path, when the user asks for it. */
export function useStreamSound(path: string): StreamSound {
  const client = useControl();
  const [isOn, setIsOn] = useState(false);
  const [state, setState] = useState<SoundState>();
  useEffect(() => {
    if (!isOn) return;
    const player = new SoundPlayer((next) => setState((known) => (known?.state === next.state ? known : next)));
    const close = client.binary(rtspBinary, "rtsp", "sound", path, { item: (item) => player.take(item) });
    return () => {
      close();
      player.close();
      setState(undefined);
    };
  }, [client, path, isOn]);
  return { isOn, toggle: () => setIsOn(!isOn), unsupported: state?.state === "unsupported" ? state.codec : undefined };
}

function onVisibility(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}

function useInView(box: RefObject<HTMLElement | null>): boolean {
  const [isInView, setIsInView] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new IntersectionObserver((entries) => setIsInView(entries.at(-1)?.isIntersecting === true));
    observer.observe(element);
    return () => {
      observer.disconnect();
      setIsInView(false);
    };
  }, [box]);
  return isInView;
}

import { useEffect, useRef, useState } from "react";
import { Note } from "../ui/panel.tsx";
import styles from "./content-viewer.module.css";
import { drawImage, imageLabel } from "./draw-image.ts";
import type { ImageSize } from "./image-size.ts";

interface ImageViewProps {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly size: ImageSize;
  readonly isCut: boolean;
}

/** An image that is all of a content. */
export function ImageView({ bytes, size, isCut }: ImageViewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { format, width, height } = size;
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    setProblem(undefined);
    if (isCut) return;
    let shown = true;
    void drawImage(bytes, { format, width, height }, { canvasOf: () => (shown ? canvas.current : null) }).then(
      (found) => shown && setProblem(found),
    );
    return () => {
      shown = false;
    };
  }, [bytes, format, width, height, isCut]);
  const note = isCut ? "It was not recorded in full, so it cannot be displayed." : problem;
  return (
    <div className={styles.picture}>
      {note ? <Note>{note}</Note> : <canvas ref={canvas} role="img" aria-label={imageLabel(size)} />}
      <Note>{`${format} · ${width} × ${height}`}</Note>
    </div>
  );
}

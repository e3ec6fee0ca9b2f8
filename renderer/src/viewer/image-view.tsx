import { useEffect, useRef, useState } from "react";
import { Note } from "../ui/panel.tsx";
import styles from "./content-viewer.module.css";
import type { ImageSize } from "./image-size.ts";

/** Larger pictures are not decoded: a few bytes may claim to be gigabytes of pixels. */
const decodedPixelsLimit = 16_000_000;

interface ImageViewProps {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly size: ImageSize;
  readonly isCut: boolean;
}

/** Drawn from its pixels on a canvas: nothing is loaded as a document, and the content security policy stays strict. */
export function ImageView({ bytes, size, isCut }: ImageViewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [problem, setProblem] = useState<string>();
  const isTooLarge = size.width * size.height > decodedPixelsLimit;
  useEffect(() => {
    setProblem(undefined);
    if (isCut || isTooLarge) return;
    let shown = true;
    createImageBitmap(new Blob([bytes], { type: `image/${size.format.toLowerCase()}` })).then(
      (bitmap) => {
        if (shown && canvas.current) {
          canvas.current.width = bitmap.width;
          canvas.current.height = bitmap.height;
          canvas.current.getContext("2d")?.drawImage(bitmap, 0, 0);
        }
        bitmap.close();
      },
      () => shown && setProblem("The image cannot be decoded."),
    );
    return () => {
      shown = false;
    };
  }, [bytes, size.format, isCut, isTooLarge]);
  const note = isCut ? "It was not recorded in full, so it cannot be displayed." : isTooLarge ? "Too large to display." : problem;
  return (
    <div className={styles.picture}>
      {note ? (
        <Note>{note}</Note>
      ) : (
        <canvas ref={canvas} role="img" aria-label={`${size.format} picture, ${size.width} by ${size.height} pixels`} />
      )}
      <Note>{`${size.format} · ${size.width} × ${size.height}`}</Note>
    </div>
  );
}

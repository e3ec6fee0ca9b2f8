/** Lays out large content in a worker, so that the page stays responsive. */
import { type ContentLayout, type LayoutRequest, layOutContent } from "./content-layout.ts";

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  const laidOut: ContentLayout = layOutContent(data);
  const { marks, folds, softBreaks, changes, lineNumbers } = laidOut;
  self.postMessage(laidOut, {
    transfer: [marks, folds, softBreaks, changes, lineNumbers].flatMap((numbers) => (numbers ? [numbers.buffer] : [])),
  });
};

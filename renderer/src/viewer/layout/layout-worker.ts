/** Lays out large content apart from the page, which stays free meanwhile. */
import { type ContentLayout, type LayoutRequest, layOutContent } from "./content-layout.ts";

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  const laidOut: ContentLayout = layOutContent(data);
  self.postMessage(laidOut, {
    transfer: [laidOut.marks.buffer, laidOut.folds.buffer, laidOut.softBreaks.buffer, ...(laidOut.changes ? [laidOut.changes.buffer] : [])],
  });
};

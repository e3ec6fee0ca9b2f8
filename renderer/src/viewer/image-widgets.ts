import type { Extension, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";
import styles from "./code-view.module.css";
import { drawImage, imageLabel, sizeInText } from "./draw-image.ts";
import type { LaidOutImage, LaidOutText } from "./layout/laid-out-text.ts";

class ImageWidget extends WidgetType {
  readonly image: LaidOutImage;
  constructor(image: LaidOutImage) {
    super();
    this.image = image;
  }
  override eq(other: ImageWidget): boolean {
    return other.image === this.image;
  }
  override get estimatedHeight(): number {
    return sizeInText(this.image.size).height;
  }
  override toDOM(): HTMLElement {
    const { bytes, size } = this.image;
    const { width, height } = sizeInText(size);
    const box = document.createElement("div");
    box.className = styles.image ?? "";
    box.style.height = `${height}px`;
    const canvas = document.createElement("canvas");
    canvas.role = "img";
    canvas.ariaLabel = imageLabel(size);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    box.append(canvas);
    const perPixel = Math.max(1, window.devicePixelRatio);
    const drawn = { width: Math.min(size.width, Math.ceil(width * perPixel)), height: Math.min(size.height, Math.ceil(height * perPixel)) };
    void drawImage(bytes, size, { canvasOf: () => (canvas.isConnected ? canvas : null), size: drawn }).then((problem) => {
      if (problem !== undefined) box.replaceChildren(problem);
    });
    return box;
  }
  // A click on it selects nothing.
  override ignoreEvent(): boolean {
    return true;
  }
}

/** Draws the images of a layout between its lines. */
export const imageWidgets = (laidOut: StateField<LaidOutText>): Extension =>
  EditorView.decorations.compute([laidOut], (state) => {
    const { images = [] } = state.field(laidOut);
    return Decoration.set(
      images.map((image) => Decoration.widget({ widget: new ImageWidget(image), block: true, side: -1 }).range(image.at)),
    );
  });

import type { HTMLAttributes, KeyboardEvent, PointerEvent } from "react";
import styles from "./edge-handle.module.css";

const keyStepPx = 16;

interface EdgeHandleProps {
  /** The axis along which a panel grows; it grows towards the origin: to the left, or upwards. */
  readonly axis: "x" | "y";
  readonly minimum: number;
  readonly maximum: number;
  readonly value: number;
  onChange(value: number): void;
  readonly label: string;
}

/** The left or upper edge of a panel, which resizes it by pointer and by arrow keys. The panel is `position: relative`. */
export function EdgeHandle(props: EdgeHandleProps) {
  return <div className={styles.handle} data-axis={props.axis} {...edgeDrag(props)} />;
}

function edgeDrag({ axis, minimum, maximum, value, onChange, label }: EdgeHandleProps): HTMLAttributes<HTMLElement> {
  const change = (next: number) => onChange(Math.round(Math.min(maximum, Math.max(minimum, next))));
  const at = (event: PointerEvent) => (axis === "x" ? event.clientX : event.clientY);
  const [grow, shrink] = axis === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  return {
    role: "separator",
    tabIndex: 0,
    "aria-label": label,
    "aria-orientation": axis === "x" ? "vertical" : "horizontal",
    "aria-valuenow": value,
    "aria-valuemin": minimum,
    "aria-valuemax": maximum,
    onPointerDown(event) {
      if (event.button !== 0) return;
      const edge = event.currentTarget;
      const from = at(event);
      edge.setPointerCapture(event.pointerId);
      const move = (moved: globalThis.PointerEvent) => change(value + from - (axis === "x" ? moved.clientX : moved.clientY));
      const end = () => {
        edge.removeEventListener("pointermove", move);
        edge.removeEventListener("pointerup", end);
        edge.removeEventListener("pointercancel", end);
      };
      edge.addEventListener("pointermove", move);
      edge.addEventListener("pointerup", end);
      edge.addEventListener("pointercancel", end);
      event.preventDefault();
    },
    onKeyDown(event: KeyboardEvent) {
      if (event.key === grow) change(value + keyStepPx);
      else if (event.key === shrink) change(value - keyStepPx);
      else return;
      event.preventDefault();
    },
  };
}

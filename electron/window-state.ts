import { z } from "zod";
import { writeFileAtomically } from "../servers/core/files/atomic-file.ts";
import { readRegularFile } from "../servers/core/files/regular-file.ts";

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const windowState = z.object({
  /** Of the window when it is not maximised. */
  bounds: z.object({ x: z.int(), y: z.int(), width: z.int().positive(), height: z.int().positive() }),
  maximised: z.boolean(),
});
export type WindowState = z.output<typeof windowState>;

const defaultSize = { width: 1280, height: 800 };
export const minimumSize = { width: 1024, height: 640 };

/** The smallest visible part of a window, in pixels, by which it can still be seen and dragged. */
const graspable = 120;

/** Undefined if nothing is saved yet or it cannot be read, which is not reported as an error. */
export async function readWindowState(file: string): Promise<WindowState | undefined> {
  try {
    return windowState.parse(JSON.parse(await readRegularFile(file)));
  } catch {
    return undefined;
  }
}

export async function writeWindowState(file: string, state: WindowState): Promise<void> {
  await writeFileAtomically(file, `${JSON.stringify(state)}\n`);
}

/** Size and, if it is still on a display, position. Without a position the system centres the window. */
export function fitToDisplays(saved: Rectangle | undefined, workAreas: readonly Rectangle[]): Partial<Rectangle> & typeof defaultSize {
  if (!saved) return defaultSize;
  const area = workAreas.find((candidate) => overlap(saved, candidate) >= graspable);
  if (!area) return { ...defaultSize };
  const width = clamp(saved.width, minimumSize.width, area.width);
  const height = clamp(saved.height, minimumSize.height, area.height);
  return {
    x: clamp(saved.x, area.x, area.x + area.width - width),
    y: clamp(saved.y, area.y, area.y + area.height - height),
    width,
    height,
  };
}

/** The shorter side of the intersection of two rectangles; 0 if they do not intersect. */
function overlap(one: Rectangle, other: Rectangle): number {
  const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  return Math.max(0, Math.min(width, height));
}

/** On a display smaller than the window may be, the lower bound wins: the window's top left stays visible. */
const clamp = (value: number, lowest: number, highest: number) => Math.max(lowest, Math.min(value, highest));

import { type PointerEvent, useEffect, useEffectEvent, useMemo, useRef } from "react";

/** How long the pointer rests before rows may move again; it opens what it was moved to within that. */
const restMs = 1_000;
/** How long it has left the rows. */
const leftMs = 300;

/**
 * Tells when the user aims at a row: from a move or press of the pointer over the rows, or a key, until that has rested or left for a
 * moment. Its handlers are for the element around the rows.
 */
export function useAim(onAimed: (aims: boolean) => void) {
  const tell = useEffectEvent(onAimed);
  const aims = useRef(false);
  const aim = useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isPressed = false;
    /** Of the pointer. Browsers may also send a move when the rows below it change. */
    let place = "";
    const set = (next: boolean) => {
      if (aims.current === next) return;
      aims.current = next;
      tell(next);
    };
    const until = (ms: number | undefined) => {
      clearTimeout(timer);
      timer = ms === undefined ? undefined : setTimeout(() => set(false), ms);
    };
    const hold = () => {
      set(true);
      until(isPressed ? undefined : restMs);
    };
    return {
      /** A key chose a row. */
      hold,
      end() {
        isPressed = false;
        until(undefined);
        set(false);
      },
      handlers: {
        onPointerMove({ clientX, clientY }: PointerEvent) {
          const moved = `${clientX} ${clientY}`;
          if (moved === place) return;
          place = moved;
          hold();
        },
        onPointerDown() {
          isPressed = true;
          hold();
        },
        onPointerUp() {
          isPressed = false;
          hold();
        },
        onPointerLeave() {
          isPressed = false;
          if (aims.current) until(leftMs);
        },
      },
    };
  }, []);
  useEffect(() => aim.end, [aim]);
  return { ...aim, aims };
}

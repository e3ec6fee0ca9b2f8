import { useEffect, useEffectEvent } from "react";

/** Space, wherever it does not type or press something else. */
export function useSpace(onSpace: () => void): void {
  const act = useEffectEvent(onSpace);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== " " || event.repeat || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.closest("input, textarea, select, button, a, summary, [contenteditable], [role='menu'], [role='dialog']")) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
